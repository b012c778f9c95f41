#include "sched/state/rq.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/import/vectors.h"

namespace runqlab::sched {
namespace {

using namespace literals;

const std::string kVectors = std::string(RUNQLAB_TEST_DATA) + "/vectors/";

TEST(Rq, AveragesMoveByAnEighth) {
  for (const VectorRow& row : VectorFile(kVectors + "update_avg.csv")) {
    EXPECT_EQ(
        update_avg(Duration::nanos(row.number("avg")), Duration::nanos(row.number("sample"))).ns(),
        row.number("next_div8_trunc"))
        << row.to_string();
  }
}

TEST(Rq, AvgIdleAfterAWakeup) {
  for (const VectorRow& row : VectorFile(kVectors + "avg_idle.csv")) {
    SCOPED_TRACE(row.to_string());
    constexpr int64_t kStamp = 5'000;
    Rq rq{.idle_stamp_ns = kStamp,
          .avg_idle = Duration::nanos(row.number("avg_idle_before")),
          .max_idle_balance_cost = Duration::nanos(row.number("max_idle_balance_cost"))};
    rq.end_idle_period(kStamp + row.number("idle_ns"), 7);
    EXPECT_EQ(rq.wake_avg_idle.ns(), row.number("wake_avg_idle_after"));
    EXPECT_EQ(rq.wake_stamp, 7);
    EXPECT_EQ(rq.avg_idle.ns(), row.number("avg_idle_after"));
    EXPECT_EQ(rq.idle_stamp_ns, 0);
  }
}

TEST(Rq, OneIdlePeriodCountsOnce) {
  Rq rq{.avg_idle = 700_us, .max_idle_balance_cost = 500_us};
  rq.end_idle_period(123'456'789, 0);
  EXPECT_EQ(rq.avg_idle, 700_us);
}

TEST(Rq, TheIdleTimeForSearchingHalvesPerJiffy) {
  Rq rq{.wake_avg_idle = 800_us, .wake_stamp = 10};
  rq.age_wake_avg_idle(10);
  EXPECT_EQ(rq.wake_avg_idle, 800_us);
  rq.age_wake_avg_idle(13);
  EXPECT_EQ(rq.wake_avg_idle, 100_us);
  rq.age_wake_avg_idle(1'000'000'000);
  EXPECT_EQ(rq.wake_avg_idle, Duration{});
}

TEST(Rq, ACpuWithAPendingWakeupIsNotIdle) {
  Rq rq;
  EXPECT_TRUE(rq.is_idle());
  rq.ttwu_pending = true;
  EXPECT_FALSE(rq.is_idle());
  rq.ttwu_pending = false;
  rq.nr_running = 1;
  EXPECT_FALSE(rq.is_idle());
}

}  // namespace
}  // namespace runqlab::sched
