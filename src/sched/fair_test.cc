#include "sched/fair.h"

#include <gtest/gtest.h>

#include "sched/queue_lab.h"

namespace runqlab::sched {
namespace {

using namespace literals;

constexpr int64_t kMs = 1'000'000;

SimTime at(Duration d) { return SimTime{} + d; }

// --- Delayed dequeue ---------------------------------------------------------------------------

// C ran 2 ms ahead of O and goes to sleep.
struct Ahead {
  explicit Ahead(std::string_view arm = "6.18") : lab(arm) {}
  QueueLab lab;
  Task& o = lab.queued(0, 9 * kMs);
  Task& c = lab.running(0, 2'800'000);
  FairClass::Dequeued block() { return lab.block(at(2_ms)); }
};

TEST(DelayDequeue, ASleeperThatIsNotEligibleStaysQueued) {
  Ahead s;
  EXPECT_FALSE(s.block().left);
  EXPECT_TRUE(s.c.se.delayed);
  EXPECT_TRUE(s.c.on_rq);
  EXPECT_EQ(s.lab.rq.nr_running, 2U);  // the CPU is not idle, and a third one stacks
  EXPECT_EQ(s.lab.rq.cfs.nr_queued, 2U);
  EXPECT_EQ(s.lab.rq.cfs.nr_runnable(), 1U);
  EXPECT_EQ(s.lab.rq.curr, s.o.id);
  EXPECT_EQ(s.lab.v(), kMs);  // it goes on to count in V
}

TEST(DelayDequeue, OthersLeaveAtOnce) {
  Ahead off("6.18,NO_DELAY_DEQUEUE");
  EXPECT_TRUE(off.block().left);
  EXPECT_EQ(off.c.se.vlag, -kMs);
  EXPECT_FALSE(off.c.se.rel_deadline);
  Ahead behind;
  behind.lab.move(behind.o, 9 * kMs, 10 * kMs);
  EXPECT_TRUE(behind.block().left);
  EXPECT_EQ(behind.c.se.vlag, 3'500'000);
  Ahead dead;
  EXPECT_TRUE(
      dead.lab.fair.dequeue(dead.lab.rq, dead.c, {.sleep = true, .special = true}, at(2_ms)).left);
}

TEST(DelayDequeue, IsDoneForRealWhenItIsPicked) {
  for (const bool zero : {true, false}) {
    Ahead s(zero ? "6.18" : "6.18,NO_DELAY_ZERO");
    s.block();
    s.lab.move(s.c, 2 * kMs, 2'800'000);
    // O is ahead now, and C has the earlier deadline.
    EXPECT_EQ(s.lab.schedule(at(7_ms)), s.o.id);
    EXPECT_FALSE(s.c.se.delayed);
    EXPECT_FALSE(s.c.on_rq);
    EXPECT_EQ(s.lab.rq.nr_running, 1U);
    EXPECT_EQ(s.lab.rq.cfs.nr_delayed, 0U);
    EXPECT_EQ(s.c.se.vlag, zero ? 0 : 1'500'000);  // V = (5 + 2) / 2 ms
  }
}

TEST(DelayDequeue, TheLastOneIsDroppedBeforeTheCpuIdles) {
  Ahead s;
  s.block();
  s.lab.move(s.o, kMs, 9 * kMs);
  EXPECT_TRUE(s.lab.block(at(3_ms)).left);
  EXPECT_FALSE(s.lab.rq.curr.valid());
  EXPECT_EQ(s.lab.rq.nr_running, 0U);
}

TEST(DelayDequeue, AWakeupBeforeThatLeavesNegativeLag) {
  Ahead s;
  s.block();
  s.lab.fair.requeue_delayed(s.lab.rq, s.c, at(2_ms));
  EXPECT_FALSE(s.c.se.delayed);
  EXPECT_EQ(s.c.se.vruntime, 2 * kMs);
  EXPECT_EQ(s.c.se.deadline, 2'800'000);
  EXPECT_EQ(s.lab.rq.cfs.nr_runnable(), 2U);
}

// Positive lag is lost: the task is placed at the V of the others, with a new request.
TEST(DelayDequeue, AWakeupBeforeThatTakesPositiveLagAway) {
  for (const bool zero : {true, false}) {
    Ahead s(zero ? "6.18" : "6.18,NO_DELAY_ZERO");
    s.block();
    s.lab.fair.update_curr(s.lab.rq, at(8_ms));  // O at 6 ms
    s.lab.fair.requeue_delayed(s.lab.rq, s.c, at(8_ms));
    EXPECT_EQ(s.c.se.vruntime, zero ? 6 * kMs : 2 * kMs);
    EXPECT_EQ(s.c.se.deadline, zero ? 6 * kMs + 2'800'000 : 2'800'000);
    EXPECT_EQ(s.lab.v(), zero ? 6 * kMs : 4 * kMs);
  }
}

TEST(DelayDequeue, AMigratedSleeperStaysDelayed) {
  Ahead s;
  s.block();
  Rq other;
  s.lab.fair.dequeue(s.lab.rq, s.c, {.migrating = true}, at(2_ms));
  EXPECT_EQ(s.lab.rq.cfs.nr_delayed, 0U);
  EXPECT_EQ(s.lab.rq.nr_running, 1U);
  s.lab.fair.enqueue(other, s.c, {.migrated = true}, at(2_ms));
  EXPECT_TRUE(s.c.se.delayed);
  EXPECT_EQ(other.nr_running, 1U);
  EXPECT_EQ(other.cfs.nr_runnable(), 0U);
  EXPECT_EQ(s.lab.fair.pick(other, at(2_ms)), TaskId::none());
}

TEST(Dequeue, ATaskThatMovesKeepsTheRestOfItsRequest) {
  for (const bool keeps : {true, false}) {
    QueueLab lab(keeps ? "6.18" : "6.18,NO_PLACE_REL_DEADLINE");
    Task& p = lab.queued(300'000, 1'000'000);
    Rq other;
    lab.fair.dequeue(lab.rq, p, {.migrating = true}, at(1_ms));
    EXPECT_EQ(p.se.rel_deadline, keeps);
    lab.fair.enqueue(other, p, {.migrated = true}, at(1_ms));
    EXPECT_EQ(p.se.deadline - p.se.vruntime, keeps ? 700'000 : 2'800'000);
    EXPECT_EQ(p.se.exec_start, SimTime{});  // not cache hot there
  }
}

// --- Load tracking -----------------------------------------------------------------------------

TEST(FairLoad, AHogsLoadIsItsWeight) {
  QueueLab lab;
  Task& p = lab.running(0, kMs, 5);
  for (int ms = 4; ms <= 400; ms += 4) lab.fair.tick(lab.rq, p, at(Duration::millis(ms)));
  EXPECT_NEAR(static_cast<double>(p.se.avg.load_avg), 335, 1);
  EXPECT_NEAR(static_cast<double>(p.se.avg.util_avg), 1024, 2);
  EXPECT_NEAR(static_cast<double>(lab.rq.cfs.avg.load_avg), 335, 1);
  EXPECT_NEAR(static_cast<double>(lab.rq.cfs.avg.util_avg), 1024, 2);
}

TEST(FairLoad, ADelayedSleeperIsLoadButNotRunnable) {
  Ahead s;
  s.block();
  const uint64_t load = s.c.se.avg.load_sum, runnable = s.c.se.avg.runnable_sum;
  s.lab.fair.requeue_delayed(s.lab.rq, s.c, at(34_ms));
  EXPECT_GT(s.c.se.avg.load_sum, load * 2);
  EXPECT_LT(s.c.se.avg.runnable_sum, runnable);
}

TEST(FairLoad, NewTasksGetHalfOfWhatIsLeft) {
  QueueLab lab;
  Task& p = lab.task();
  lab.fair.init_new(lab.rq, p);
  EXPECT_EQ(p.se.avg.load_avg, 1024U);
  EXPECT_EQ(p.se.avg.util_avg, 512U);  // of an unused CPU
  EXPECT_EQ(p.se.avg.runnable_avg, 512U);
  lab.rq.cfs.avg.util_avg = 200;
  lab.rq.cfs.avg.load_avg = 999;
  lab.fair.init_new(lab.rq, p);
  EXPECT_EQ(p.se.avg.util_avg, 200U * 1024 / 1000);  // in proportion to the weight
  lab.rq.cfs.avg.util_avg = 900;
  lab.fair.init_new(lab.rq, p);
  EXPECT_EQ(p.se.avg.util_avg, 62U);
  lab.rq.cfs.avg.util_avg = 1024;
  lab.fair.init_new(lab.rq, p);
  EXPECT_EQ(p.se.avg.util_avg, 0U);
}

// What a sleeper leaves behind on the old queue goes at that queue's next update, not before.
TEST(FairLoad, AWakeupElsewhereTakesTheLoadAlong) {
  QueueLab lab;
  Task& p = lab.running(0, kMs);
  for (int ms = 4; ms <= 200; ms += 4) lab.fair.tick(lab.rq, p, at(Duration::millis(ms)));
  lab.block(at(200_ms));
  const uint64_t load = lab.rq.cfs.avg.load_avg;
  EXPECT_GT(load, 900U);
  lab.fair.leave_sleeping(lab.rq, p, at(232_ms));
  EXPECT_EQ(lab.rq.cfs.avg.load_avg, load);
  EXPECT_EQ(p.se.avg.last_update_ns, 0);
  // The old CPU was idle: its own clock is behind, the task's load is not.
  EXPECT_NEAR(static_cast<double>(p.se.avg.load_avg), static_cast<double>(load) / 2, 30);
  Rq other;
  lab.fair.enqueue(other, p, {.wakeup = true, .migrated = true}, at(232_ms));
  EXPECT_EQ(other.cfs.avg.load_avg, p.se.avg.load_avg);
  lab.fair.update_blocked(lab.rq, at(232_ms));
  EXPECT_LE(lab.rq.cfs.avg.load_avg, 1U);
}

TEST(FairLoad, ATaskThatLeavesTheClassTakesItsLoadAtOnce) {
  QueueLab lab;
  Task& p = lab.running(0, kMs);
  for (int ms = 4; ms <= 200; ms += 4) lab.fair.tick(lab.rq, p, at(Duration::millis(ms)));
  lab.block(at(200_ms));
  lab.fair.leave_class(lab.rq, p, at(200_ms));
  EXPECT_EQ(lab.rq.cfs.avg.load_avg, 0U);
  EXPECT_EQ(lab.rq.cfs.avg.util_avg, 0U);
  EXPECT_EQ(p.se.avg.last_update_ns, 0);  // it is attached wherever it comes back
}

TEST(FairLoad, EstimatesAreSummedOverTheRunnable) {
  QueueLab lab;
  Task& p = lab.task();
  p.util_est = 300;
  lab.fair.enqueue(lab.rq, p, {.wakeup = true}, SimTime{});
  EXPECT_EQ(lab.rq.cfs.util_est, 300U);
  Task& c = lab.running(0, kMs);
  lab.move(c, 5 * kMs, 6 * kMs);
  c.util_est = 100;
  lab.rq.cfs.util_est += 100;
  lab.block(at(40_ms));  // delayed: not in the sum
  EXPECT_TRUE(c.se.delayed);
  EXPECT_EQ(lab.rq.cfs.util_est, 300U);
  lab.fair.requeue_delayed(lab.rq, c, at(41_ms));
  EXPECT_EQ(lab.rq.cfs.util_est, 300U + c.util_est);
}

TEST(FairLoad, ReweightKeepsWorthInWallTime) {
  QueueLab lab;
  Task& p = lab.task();
  p.se.vlag = 335'000;
  p.se.rel_deadline = true;
  p.se.deadline = 670'000;
  lab.fair.reweight(lab.rq, p, nice_weight(5), SimTime{});
  EXPECT_EQ(p.se.vlag, 1'024'000);
  EXPECT_EQ(p.se.deadline, 2'048'000);
  EXPECT_EQ(p.se.load, nice_weight(5));
}

// --- Lists and counts --------------------------------------------------------------------------

TEST(FairList, TheMostRecentlyQueuedOrPickedIsFirst) {
  QueueLab lab;
  Task& a = lab.queued(0, 9);
  const Task& b = lab.queued(0, 9);
  Task& c = lab.queued(0, 9);
  EXPECT_EQ(lab.rq.fair_head, c.id);
  EXPECT_EQ(lab.rq.fair_tail, a.id);
  lab.run(a, SimTime{});
  EXPECT_EQ(lab.rq.fair_head, a.id);
  EXPECT_EQ(lab.rq.fair_tail, b.id);
  lab.fair.dequeue(lab.rq, c, {}, SimTime{});
  EXPECT_EQ(a.list_next, b.id);
  EXPECT_EQ(b.list_prev, a.id);
}

TEST(FairList, IdlePolicyTasksAreCountedApart) {
  QueueLab lab;
  Task& p = lab.task();
  p.policy = Policy::idle;
  lab.fair.enqueue(lab.rq, p, {.wakeup = true}, SimTime{});
  EXPECT_EQ(lab.rq.cfs.nr_idle_policy, 1U);
  EXPECT_FALSE(lab.overload);
  lab.queued(0, 9);
  EXPECT_EQ(lab.rq.cfs.nr_idle_policy, 1U);
  EXPECT_TRUE(lab.overload);
  lab.fair.dequeue(lab.rq, p, {}, SimTime{});
  EXPECT_EQ(lab.rq.cfs.nr_idle_policy, 0U);
}

}  // namespace
}  // namespace runqlab::sched
