#include "sched/pelt.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/import/vectors.h"

namespace runqlab::sched::pelt {
namespace {

const std::string kVectors = std::string(RUNQLAB_TEST_DATA) + "/vectors/";
constexpr int64_t kPeriodNs = int64_t{kPeriod} * 1024;

void expect_sums(const PeltAvg& a, const VectorRow& row) {
  EXPECT_EQ(a.load_sum, row.natural("load_sum"));
  EXPECT_EQ(a.runnable_sum, row.natural("runnable_sum"));
  EXPECT_EQ(a.util_sum, row.natural("util_sum"));
  EXPECT_EQ(a.load_avg, row.natural("load_avg"));
  EXPECT_EQ(a.runnable_avg, row.natural("runnable_avg"));
  EXPECT_EQ(a.util_avg, row.natural("util_avg"));
}

TEST(Pelt, DecayTable) {
  for (const VectorRow& row : VectorFile(kVectors + "pelt_table.csv")) {
    SCOPED_TRACE(row.to_string());
    const uint64_t n = row.natural("n");
    EXPECT_EQ(decay(uint64_t{1} << 32, n), row.natural("y_pow_n_times_2^32"));
    EXPECT_EQ(decay(kMaxSum, n), row.natural("decay(47742,n)"));
    EXPECT_EQ(decay(kPeriod, n), row.natural("decay(1024,n)"));
  }
}

TEST(Pelt, Decay) {
  for (const VectorRow& row : VectorFile(kVectors + "pelt_decay.csv")) {
    EXPECT_EQ(decay(row.natural("value"), row.natural("n_periods")), row.natural("decayed"))
        << row.to_string();
  }
}

TEST(Pelt, Segments) {
  for (const VectorRow& row : VectorFile(kVectors + "pelt_segments.csv")) {
    EXPECT_EQ(segments(row.natural("periods"), static_cast<uint32_t>(row.natural("d1")),
                       static_cast<uint32_t>(row.natural("d3"))),
              row.natural("contribution"))
        << row.to_string();
  }
}

// R running, W queued but not running, S asleep, since the previous row.
TEST(Pelt, EntityThroughRunWaitAndSleep) {
  PeltAvg a;
  for (const VectorRow& row : VectorFile(kVectors + "pelt_entity.csv.xz")) {
    SCOPED_TRACE(row.to_string());
    const std::string& state = row.text("state_until_now");
    if (state == "init") {
      a = {.load_sum = row.natural("load_sum"), .load_avg = row.natural("load_avg")};
    } else {
      const bool queued = state != "S";
      update_entity(a, row.number("now_ns"), row.natural("weight"), queued, queued ? 1 : 0,
                    state == "R");
    }
    expect_sums(a, row);
    EXPECT_EQ(a.period_contrib, row.natural("period_contrib"));
  }
}

TEST(Pelt, FullyLoadedEntityAfterSleep) {
  constexpr const char* kSlept = "periods_of_1024us(1048576ns)_slept";
  for (const VectorRow& row : VectorFile(kVectors + "pelt_decay_entity.csv")) {
    SCOPED_TRACE(row.to_string());
    PeltAvg a{.load_sum = kMaxSum,
              .runnable_sum = uint64_t{kMaxSum} << 10,
              .util_sum = kMaxSum << 10,
              .period_contrib = 0,
              .load_avg = 1024,
              .runnable_avg = 1024,
              .util_avg = 1024};
    update_blocked(a, row.number(kSlept) * kPeriodNs, 1024);
    expect_sums(a, row);
  }
}

TEST(Pelt, QueueSums) {
  PeltAvg a;
  std::string scenario;
  for (const VectorRow& row : VectorFile(kVectors + "pelt_cfs_rq.csv")) {
    SCOPED_TRACE(row.to_string());
    if (scenario != row.text("scenario")) a = {};
    scenario = row.text("scenario");
    update_queue(a, row.number("now_ns"), row.natural("queue_weight"), row.natural("h_nr_runnable"),
                 row.flag("curr_running"));
    expect_sums(a, row);
    EXPECT_EQ(a.period_contrib, row.natural("period_contrib"));
  }
}

// FAIR.md C.1's anchors.
TEST(Pelt, UtilisationOfAHog) {
  PeltAvg a;
  for (int ms = 4; ms <= 400; ms += 4) {
    update_entity(a, int64_t{ms} * 1'000'000, 1024, true, 1, true);
    if (ms == 40) {
      EXPECT_EQ(a.util_avg, 575U);
    }
    if (ms == 80) {
      EXPECT_EQ(a.util_avg, 827U);
    }
    if (ms == 120) {
      EXPECT_EQ(a.util_avg, 938U);
    }
    if (ms >= 360) {
      EXPECT_EQ(a.util_avg, 1023U);
    }
  }
}

TEST(Pelt, AClockThatGoesBackOnlyMovesTheStamp) {
  PeltAvg a;
  update_entity(a, 5 * kPeriodNs, 1024, true, 1, true);
  const PeltAvg before = a;
  EXPECT_FALSE(update_entity(a, 3 * kPeriodNs, 1024, true, 1, true));
  EXPECT_EQ(a.last_update_ns, 3 * kPeriodNs);
  EXPECT_EQ(a.util_sum, before.util_sum);
}

PeltAvg queue_after(int64_t ns) {
  PeltAvg q;
  update_queue(q, ns, 2048, 2, true);
  return q;
}

TEST(Pelt, AttachTakesTheQueuesClockAndAddsToIt) {
  PeltAvg q = queue_after(50 * kPeriodNs + 300 * 1024);
  const PeltAvg before = q;
  PeltAvg e{.load_avg = 335, .runnable_avg = 400, .util_avg = 300};
  attach(q, e, 335);
  EXPECT_EQ(e.last_update_ns, q.last_update_ns);
  EXPECT_EQ(e.period_contrib, q.period_contrib);
  EXPECT_EQ(e.util_sum, 300 * divider(q));
  EXPECT_EQ(e.runnable_sum, 400 * divider(q));
  EXPECT_EQ(e.load_sum, divider(q));  // 335 * divider / 335
  EXPECT_EQ(q.load_avg, before.load_avg + 335);
  EXPECT_EQ(q.load_sum, before.load_sum + 335 * divider(q));
  EXPECT_EQ(q.util_avg, before.util_avg + 300);
  EXPECT_EQ(q.runnable_avg, before.runnable_avg + 400);
}

TEST(Pelt, AttachKeepsALoadSumOfAtLeastOne) {
  PeltAvg q = queue_after(10 * kPeriodNs);
  PeltAvg e;
  attach(q, e, 1024);
  EXPECT_EQ(e.load_sum, 1U);
}

TEST(Pelt, DetachUndoesAttach) {
  PeltAvg q = queue_after(50 * kPeriodNs);
  const PeltAvg before = q;
  PeltAvg e{.load_avg = 1024, .runnable_avg = 600, .util_avg = 500};
  attach(q, e, 1024);
  detach(q, e, 1024);
  EXPECT_EQ(q.load_avg, before.load_avg);
  EXPECT_EQ(q.util_avg, before.util_avg);
  EXPECT_EQ(q.runnable_avg, before.runnable_avg);
  EXPECT_EQ(q.load_sum, before.load_sum);
  EXPECT_EQ(q.util_sum, before.util_sum);
}

// What leaves may be more than what is there; the sums stay what the averages stand for.
TEST(Pelt, DetachSaturates) {
  PeltAvg q = queue_after(50 * kPeriodNs);
  const uint64_t load = q.load_avg;
  const PeltAvg e{.load_sum = uint64_t{kMaxSum} * 100,
                  .runnable_sum = uint64_t{kMaxSum} << 20,
                  .util_sum = 0xffffffff,
                  .load_avg = 10,
                  .runnable_avg = 10'000,
                  .util_avg = 10'000};
  detach(q, e, 1024);
  EXPECT_EQ(q.load_avg, load - 10);
  EXPECT_EQ(q.load_sum, (load - 10) * (kMaxSum - kPeriod));
  EXPECT_EQ(q.util_avg, 0U);
  EXPECT_EQ(q.util_sum, 0U);
  EXPECT_EQ(q.runnable_avg, 0U);
}

TEST(Pelt, RemovedAveragesLeaveWithTheQueuesDivider) {
  PeltAvg q = queue_after(50 * kPeriodNs + 700 * 1024);
  const PeltAvg before = q;
  remove(q, 100, 50, 60);
  EXPECT_EQ(q.load_avg, before.load_avg - 100);
  EXPECT_EQ(q.load_sum, before.load_sum - 100 * divider(q));
  EXPECT_EQ(q.util_avg, before.util_avg - 50);
  EXPECT_EQ(q.runnable_avg, before.runnable_avg - 60);
}

TEST(Pelt, ReweightScalesTheLoadOfEntityAndQueue) {
  PeltAvg q = queue_after(50 * kPeriodNs);
  PeltAvg e{.load_avg = 1024, .runnable_avg = 600, .util_avg = 500};
  attach(q, e, 1024);
  const PeltAvg queue = q, entity = e;
  reweight(&q, e, 1024, 335);
  EXPECT_EQ(e.load_avg, 335U);
  EXPECT_EQ(e.load_sum, entity.load_sum);
  EXPECT_EQ(e.util_avg, entity.util_avg);
  EXPECT_EQ(q.load_avg, queue.load_avg - 1024 + 335);
  EXPECT_EQ(q.util_avg, queue.util_avg);
  reweight(nullptr, e, 335, 1024);
  EXPECT_EQ(e.load_avg, 1024U);
}

TEST(Pelt, UtilEst) {
  for (const VectorRow& row : VectorFile(kVectors + "util_est.csv")) {
    SCOPED_TRACE(row.to_string());
    const uint64_t ewma = row.natural("ewma_before"), util = row.natural("util_at_dequeue");
    const uint64_t other = row.natural("enqueued_before_or_runnable(6.12)");
    if (row.text("version") == "6.12") {
      EXPECT_EQ(util_est(ewma, util, other), row.natural("ewma_after"));
      continue;
    }
    const UtilEstPair after = util_est_pair({ewma, other}, util, 1024);
    EXPECT_EQ(after.ewma, row.natural("ewma_after"));
    EXPECT_EQ(after.enqueued, row.natural("enqueued_after"));
  }
  EXPECT_EQ(util_est_pair({100, 95}, 91, 1024).enqueued, 95U);   // both steps are small
  EXPECT_EQ(util_est_pair({100, 80}, 91, 1024).enqueued, 91U);   // it moved, the average stays
  EXPECT_EQ(util_est_pair({2000, 80}, 1500, 1024).ewma, 2000U);  // beyond the capacity
}

}  // namespace
}  // namespace runqlab::sched::pelt
