// Wakeups on their way to a run queue, and changes of class and priority, as histories.
#include "sched/kernel.h"

#include <gtest/gtest.h>

#include "sim/lab.h"

namespace runqlab::sched {
namespace {

using namespace literals;
using sim::Lab;
using sim::Lines;

// --- Class, priority, nice ---------------------------------------------------------------------

TEST(SetSched, ADelayedSleeperThatBecomesRealTimeStillSleeps) {
  Lab lab;
  lab.task("c").run(2_ms).block().run(1_ms);
  lab.task("o").run(1_ms).set_sched("c", Policy::fifo, 50).run(5_ms).wake("c").run(1_ms);
  lab.run();
  EXPECT_EQ(lab.switches(),
            (Lines{"0 us, CPU 0: idle -> c", "2000 us, CPU 0: c (blocked) -> o",
                   "8000 us, CPU 0: o (preempted) -> c", "9000 us, CPU 0: c (exited) -> o",
                   "10000 us, CPU 0: o (exited) -> idle"}));
}

TEST(SetSched, ARealTimeTaskThatBecomesFairGivesWay) {
  Lab lab;
  lab.task("a").fifo(10).run(1_ms).set_sched("a", Policy::normal, 0).run(1_ms);
  lab.task("b").fifo(5).run(1_ms);
  lab.run();
  EXPECT_EQ(lab.switches(),
            (Lines{"0 us, CPU 0: idle -> a", "1000 us, CPU 0: a (preempted) -> b",
                   "2000 us, CPU 0: b (exited) -> a", "3000 us, CPU 0: a (exited) -> idle"}));
}

// A lowered task stands before its new equals, a raised one behind them.
TEST(SetSched, WhereARealTimeTaskIsQueued) {
  Lab lab;
  lab.task("boss").fifo(50).run(1_ms).set_sched("boss", Policy::fifo, 10).run(1_ms);
  lab.task("low").fifo(10).run(1_ms);
  lab.task("late").fifo(5).starts(500_us).run(1_ms);
  lab.task("top").fifo(60).starts(700_us).set_sched("late", Policy::fifo, 10);
  lab.run();
  EXPECT_EQ(
      lab.switches(),
      (Lines{"0 us, CPU 0: idle -> boss", "700 us, CPU 0: boss (preempted) -> top",
             "700 us, CPU 0: top (exited) -> boss", "2000 us, CPU 0: boss (exited) -> low",
             "3000 us, CPU 0: low (exited) -> late", "4000 us, CPU 0: late (exited) -> idle"}));
}

TEST(SetSched, OnlyAHigherNiceAsksForAReschedule) {
  for (const int nice : {-5, 5}) {
    Lab lab("pack:1 l3:1 core:1 pu:1", "6.18,base_slice_ns=10000000");
    lab.task("a").run(1_ms).set_nice(nice).run(1_ms);
    lab.task("b").run(1_ms);
    lab.run();
    // At nice 5 the same request lies further away in virtual time.
    EXPECT_EQ(lab.switches(2)[1],
              nice > 0 ? "1000 us, CPU 0: a (preempted) -> b" : "2000 us, CPU 0: a (exited) -> b");
  }
}

TEST(RoundRobin, APreemptionDoesNotRenewTheSlice) {
  Lab lab;
  lab.task("a").fifo(10).policy(Policy::rr).run(150_ms);
  lab.task("b").fifo(10).policy(Policy::rr).run(10_ms);
  lab.task("top").fifo(20).starts(50500_us).run(1_ms);
  lab.run();
  EXPECT_EQ(lab.switches(4),
            (Lines{"0 us, CPU 0: idle -> a", "50500 us, CPU 0: a (preempted) -> top",
                   "51500 us, CPU 0: top (exited) -> a", "100000 us, CPU 0: a (preempted) -> b"}));
}

// --- Wakelist and interrupts (FAIR.md D.2, D.10) -----------------------------------------------

// One wakeup from CPU 0 to CPU `to` of two LLCs with two CPUs each; the interrupts that were sent.
// A busy CPU runs what any wakee preempts.
Lines interrupts(std::string_view arm, const char* to, bool busy) {
  Lab lab("pack:1 l3:2 core:2 pu:1", arm);
  lab.task("waker").on("0").starts(1_ms).wake("wakee").run(1_ms);
  const auto cpu = static_cast<uint16_t>(*to - '0');
  lab.task("wakee").on(to).waits(cpu).run(1_ms);
  if (busy) lab.task("hog").on(to).policy(Policy::idle).starts(0_us, cpu).run(10_ms);
  lab.run(1500_us);
  Lines v;
  for (const Record& r : lab.records(RecordKind::ipi_send)) {
    v.push_back((static_cast<IpiKind>(r.flags) == IpiKind::reschedule ? "reschedule " : "call ") +
                std::to_string(r.a));
  }
  return v;
}

TEST(Wakelist, AnIdleCpuQueuesItsOwnWakees) {
  EXPECT_EQ(interrupts("6.18", "1", false), Lines{"call 1"});
  EXPECT_EQ(interrupts("6.18,NO_TTWU_QUEUE", "1", false), Lines{"reschedule 1"});
}

TEST(Wakelist, ABusyCpuOfTheSameCacheIsQueuedOnDirectly) {
  EXPECT_EQ(interrupts("6.18", "1", true), Lines{"reschedule 1"});
}

TEST(Wakelist, AnotherCacheIsNotTouched) {
  EXPECT_EQ(interrupts("6.18", "2", false), Lines{"call 2"});
  EXPECT_EQ(interrupts("6.18", "2", true), (Lines{"call 2"}));
  EXPECT_EQ(interrupts("6.18,NO_TTWU_QUEUE", "2", true), (Lines{"reschedule 2"}));
}

TEST(Wakelist, APollingCpuNeedsNoInterrupt) {
  Lab lab("pack:1 l3:1 core:2 pu:1");
  lab.machine().idle_polls = true;
  lab.task("waker").on("0").starts(1_ms).wake("wakee").run(1_ms);
  lab.task("wakee").on("1").waits(1).run(1_ms);
  lab.run();
  EXPECT_TRUE(lab.records(RecordKind::ipi_send).empty());
  EXPECT_EQ(lab.cpu_time("wakee"), 1_ms);
}

// The second wakee finds the list not empty: the CPU has been told already.
TEST(Wakelist, OneInterruptForSeveralWakees) {
  Lab lab("pack:1 l3:2 core:1 pu:1");
  lab.costs().ipi_latency_ns = 10_us;
  lab.task("waker").on("0").starts(1_ms).wake("x").wake("y").run(1_ms);
  lab.task("x").on("1").waits(1).run(1_ms);
  lab.task("y").on("1").waits(1).run(1_ms);
  lab.run();
  EXPECT_EQ(lab.records(RecordKind::ipi_send).size(), 1U);
  const auto wakeups = lab.records(RecordKind::wakeup);
  ASSERT_EQ(wakeups.size(), 3U);
  EXPECT_EQ(wakeups[1].time(), SimTime{} + 1010_us);
  EXPECT_EQ(wakeups[2].time(), wakeups[1].time());
  EXPECT_EQ(wakeups[1].task_id(), TaskId(1));
}

// A CPU with a wakeup on its way is not idle: the second wakee looks further.
TEST(Wakelist, APendingWakeupMakesACpuBusy) {
  Lab lab("pack:1 l3:1 core:3 pu:1");
  lab.costs().ipi_latency_ns = 10_us;
  lab.task("waker").on("0").starts(1_ms).wake("x").wake("y").run(1_ms);
  lab.task("x").waits(1).run(1_ms);
  lab.task("y").waits(1).run(1_ms);
  lab.run();
  const auto wakeups = lab.records(RecordKind::wakeup);
  ASSERT_EQ(wakeups.size(), 3U);
  EXPECT_EQ(wakeups[1].a, 1U);
  EXPECT_EQ(wakeups[2].a, 2U);
}

}  // namespace
}  // namespace runqlab::sched
