// Placement, requests, lag and what is left of a queue when it empties.
#include <gtest/gtest.h>

#include "sched/eevdf.h"
#include "sched/queue_lab.h"

namespace runqlab::sched {
namespace {

using namespace literals;

constexpr int64_t kMs = 1'000'000;

SimTime at(Duration d) { return SimTime{} + d; }

// --- Placement ---------------------------------------------------------------------------------

TEST(Eevdf, APlacedTaskKeepsItsLag) {
  for (const int64_t lag : {int64_t{900'000}, int64_t{-900'000}}) {
    QueueLab lab;
    lab.queued(10 * kMs, 13 * kMs);
    lab.queued(12 * kMs, 15 * kMs);
    Task& p = lab.task(5);
    p.se.vlag = lag;
    eevdf::place(lab.k, lab.rq.cfs, p.se, false);
    EXPECT_EQ(p.se.vruntime, 11 * kMs - lag * (2048 + 335) / 2048);
    EXPECT_EQ(p.se.deadline, p.se.vruntime + calc_delta_fair(2'800'000, p.se.load));
    lab.rq.cfs.load += p.se.load.stored;
    ++lab.rq.cfs.nr_queued;
    eevdf::timeline_insert(lab.rq.cfs, p.se);
    EXPECT_NEAR(static_cast<double>(lab.v() - p.se.vruntime), static_cast<double>(lag), 1.0);
  }
}

TEST(Eevdf, LagIsForgottenOnAnEmptyQueueAndWithoutPlaceLag) {
  QueueLab empty;
  Task& p = empty.task();
  p.se.vlag = kMs;
  eevdf::place(empty.k, empty.rq.cfs, p.se, false);
  EXPECT_EQ(p.se.vruntime, 0);
  QueueLab lab("6.18,NO_PLACE_LAG");
  lab.queued(10 * kMs, 13 * kMs);
  Task& q = lab.task();
  q.se.vlag = kMs;
  eevdf::place(lab.k, lab.rq.cfs, q.se, false);
  EXPECT_EQ(q.se.vruntime, 10 * kMs);
}

TEST(Eevdf, ANewTaskStartsWithHalfARequest) {
  QueueLab lab;
  lab.queued(10 * kMs, 13 * kMs);
  Task& p = lab.task();
  eevdf::place(lab.k, lab.rq.cfs, p.se, true);
  EXPECT_EQ(p.se.deadline, 10 * kMs + 1'400'000);
  QueueLab off("6.18,NO_PLACE_DEADLINE_INITIAL");
  Task& whole = off.task();
  eevdf::place(off.k, off.rq.cfs, whole.se, true);
  EXPECT_EQ(whole.se.deadline, 2'800'000);
}

TEST(Eevdf, ASavedRelativeDeadlineIsUsedOnce) {
  QueueLab lab;
  lab.queued(10 * kMs, 13 * kMs);
  Task& p = lab.task();
  p.se.deadline = 300'000;
  p.se.rel_deadline = true;
  eevdf::place(lab.k, lab.rq.cfs, p.se, true);
  EXPECT_EQ(p.se.deadline, 10 * kMs + 300'000);
  EXPECT_FALSE(p.se.rel_deadline);
  eevdf::place(lab.k, lab.rq.cfs, p.se, false);
  EXPECT_EQ(p.se.deadline, 10 * kMs + 2'800'000);
}

TEST(Eevdf, ARequestIsRenewedWhenItIsUsedUp) {
  QueueLab lab;
  Task& p = lab.task(5);
  p.se.vruntime = 99;
  p.se.deadline = 100;
  EXPECT_FALSE(eevdf::renew_deadline(lab.k, p.se));
  p.se.vruntime = 100;
  EXPECT_TRUE(eevdf::renew_deadline(lab.k, p.se));
  EXPECT_EQ(p.se.deadline, 100 + calc_delta_fair(2'800'000, p.se.load));
}

TEST(Eevdf, LagIsLimitedByTheOwnRequest) {
  QueueLab lab("6.18");
  lab.queued(0, 1, -20);
  Task& behind = lab.queued(-100 * kMs, 1);
  Task& ahead = lab.queued(100 * kMs, 1, 5);
  EXPECT_EQ(eevdf::lag_of(lab.k, lab.rq.cfs, behind.se), 5'600'000);  // twice the request
  EXPECT_EQ(eevdf::lag_of(lab.k, lab.rq.cfs, ahead.se),
            -calc_delta_fair(5'600'000, nice_weight(5)));
  lab.set_slice(behind, 100_us);
  EXPECT_EQ(eevdf::lag_of(lab.k, lab.rq.cfs, behind.se), 4 * kMs);  // a tick at least
}

TEST(Eevdf, LagIsLimitedByTheLargestRequestQueued) {
  QueueLab lab("6.18,LAG_LIMIT_QUEUE");
  lab.queued(0, 1, -20);
  Task& behind = lab.queued(-100 * kMs, 1);
  EXPECT_EQ(eevdf::lag_of(lab.k, lab.rq.cfs, behind.se), 2'800'000 + 4 * kMs);
  lab.set_slice(lab.queued(0, 1), 20_ms);
  EXPECT_EQ(eevdf::lag_of(lab.k, lab.rq.cfs, behind.se), 24 * kMs);
  lab.set_slice(behind, 30_ms);
  EXPECT_EQ(eevdf::lag_of(lab.k, lab.rq.cfs, behind.se), 34 * kMs);
}

// --- V of an empty queue, yield ----------------------------------------------------------------

// A task that arrives with lag lies behind the reference; when it then is the last to leave, only
// 6.18 goes back with it.
int64_t v_after_the_last_one_left(const char* arm) {
  QueueLab lab(arm);
  lab.running(0, 1);
  Task& late = lab.task();
  late.se.vlag = 300'000;
  lab.fair.update_curr(lab.rq, at(10_ms));
  lab.fair.enqueue(lab.rq, late, {.wakeup = true}, at(10_ms));
  lab.block(at(10_ms));
  lab.schedule(at(10_ms));
  EXPECT_EQ(lab.rq.curr, late.id);
  lab.block(at(10_ms));
  EXPECT_EQ(lab.rq.cfs.nr_queued, 0U);
  return lab.v();
}

TEST(Eevdf, VOfAnEmptyQueue) {
  EXPECT_EQ(v_after_the_last_one_left("6.12,NO_DELAY_DEQUEUE"), 10 * kMs);
  EXPECT_EQ(v_after_the_last_one_left("6.17,NO_DELAY_DEQUEUE"), 10 * kMs);
  EXPECT_EQ(v_after_the_last_one_left("6.18,NO_DELAY_DEQUEUE"), 10 * kMs - 600'000);
}

TEST(Eevdf, YieldPutsTheDeadlineBack) {
  QueueLab lab("6.18");
  Task& curr = lab.running(0, kMs);
  lab.queued(0, 2 * kMs);
  lab.fair.yield(lab.rq, curr, SimTime{});
  EXPECT_EQ(curr.se.vruntime, 0);
  EXPECT_EQ(curr.se.deadline, kMs + 2'800'000);
}

TEST(Eevdf, YieldForfeitsTheRestOfTheRequest) {
  QueueLab lab("6.18,YIELD_FORFEITS");
  Task& curr = lab.running(0, kMs);
  lab.queued(0, 2 * kMs);
  lab.fair.yield(lab.rq, curr, SimTime{});
  EXPECT_EQ(curr.se.vruntime, kMs);
  EXPECT_EQ(curr.se.deadline, kMs + 2'800'000);
  // Not eligible any more: nothing to give up.
  lab.fair.yield(lab.rq, curr, SimTime{});
  EXPECT_EQ(curr.se.vruntime, kMs);
  EXPECT_EQ(curr.se.deadline, kMs + 2'800'000);
}

TEST(Eevdf, YieldAloneDoesNothing) {
  QueueLab lab;
  Task& curr = lab.running(0, kMs);
  lab.fair.yield(lab.rq, curr, at(100_us));
  EXPECT_EQ(curr.se.deadline, kMs);
}

}  // namespace
}  // namespace runqlab::sched
