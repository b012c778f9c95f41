// What the kernel model does in small situations, as histories.
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include "sim/lab.h"
#include "workload/models/models.h"

namespace runqlab::sim {
namespace {

using namespace literals;

TEST(History, ATaskRunsSleepsAndExits) {
  Lab lab;
  lab.task("a").run(1_ms).sleep(2_ms).run(1_ms);
  const RunResult& r = lab.run();
  EXPECT_EQ(r.end, RunEnd::all_exited);
  EXPECT_EQ(lab.switches(),
            (Lines{"0 us, CPU 0: idle -> a", "1000 us, CPU 0: a (blocked) -> idle",
                   "3000 us, CPU 0: idle -> a", "4000 us, CPU 0: a (exited) -> idle"}));
}

// The pitfall of naive models: with one CPU, the writer of a pipe does not go on until it blocks.
// The task that it wakes preempts it at the wakeup, answers, and finds no sleeper to wake, as
// recorded (host_6.18/perfpipe_cpu0; which of the two is preempted changes there now and then).
TEST(History, TheWriterOfAPipeIsPreemptedAtTheWakeup) {
  Lab lab("vm-2", "6.18.44");
  lab.with_costs();
  const ObjId there = lab.pipe(), back = lab.pipe();
  lab.task("w").on("0").write(there.value()).read(back.value()).times(1000);
  lab.task("r").on("0").read(there.value()).write(back.value()).times(1000);
  const RunResult& r = lab.run();
  size_t preempted = 0, blocked = 0, idle = 0;
  for (const Record& s : lab.records(RecordKind::sched_switch)) {
    const auto leave = static_cast<TaskLeave>(s.flags);
    preempted += leave == TaskLeave::preempted;
    blocked += leave == TaskLeave::blocked;
    idle += leave == TaskLeave::was_idle;
  }
  EXPECT_NEAR(static_cast<double>(preempted), 1000, 10);
  EXPECT_NEAR(static_cast<double>(blocked), 1000, 10);
  EXPECT_EQ(idle, 1U);
  EXPECT_NEAR(static_cast<double>(lab.records(RecordKind::waking).size()), 1000, 10);
  // 2592 ns per operation without a tracer (figures.csv).
  EXPECT_NEAR(static_cast<double>(r.finished.ns()) / 1000, 2592, 60);
}

TEST(History, TheSleeperWakesOnItsIdlePreviousCpu) {
  Lab lab("pack:1 l3:1 core:4 pu:1");
  lab.task("waker").on("0").run(3_ms).wake("wakee", true).run(1_ms);
  lab.task("wakee").starts(0_us, 2).run(1_ms).block().run(1_ms);
  lab.run();
  EXPECT_EQ(
      lab.switches(),
      (Lines{"0 us, CPU 0: idle -> waker", "0 us, CPU 2: idle -> wakee",
             "1000 us, CPU 2: wakee (blocked) -> idle", "3000 us, CPU 2: idle -> wakee",
             "4000 us, CPU 0: waker (exited) -> idle", "4000 us, CPU 2: wakee (exited) -> idle"}));
}

// The named costs add up: nothing is charged that has no name.
TEST(History, CostsOfAWakeupOfAnIdleCpu) {
  Lab lab("pack:1 l3:1 core:2 pu:1");
  machine::Costs& c = lab.costs();
  c.syscall_ns = 100_ns;
  c.wakelist_ns = 200_ns;
  c.ipi_latency_ns = 3_us;
  c.idle_exit_ns = 5_us;
  c.irq_ns = 400_ns;
  c.activate_ns = 700_ns;
  c.tick_restart_ns = 11_us;
  c.context_switch_ns = 900_ns;
  lab.task("waker").on("0").starts(100_us).run(1_ms).wake("wakee").run(1_ms);
  lab.task("wakee").on("1").waits(1).run(1_ms);
  lab.run();
  const auto waking = lab.records(RecordKind::waking);
  ASSERT_EQ(waking.size(), 1U);
  Duration latency;
  for (const Record& r : lab.records(RecordKind::sched_switch)) {
    if (TaskId(r.a) == TaskId(1)) latency = r.time() - waking[0].time();
  }
  EXPECT_EQ(latency, c.wakelist_ns + c.ipi_latency_ns + c.idle_exit_ns + c.irq_ns + c.activate_ns +
                         c.tick_restart_ns);
}

// hrtimer_interrupt serves what its slack allows, so that timers of fair tasks that lie close
// together expire together, at the latest time that the first of them may have.
TEST(History, TimersShareAnInterruptWithinTheirSlack) {
  Lab lab("pack:1 l3:1 core:1 pu:1", "6.18,timer_slack_ns=50000");
  lab.task("a").sleep(1_ms);
  lab.task("b").sleep(1030_us);
  lab.task("c").sleep(1070_us);
  lab.task("rt").fifo(1).sleep(1100_us);
  lab.run();
  Lines fired;
  for (const Record& r : lab.records(RecordKind::timer_fire)) {
    fired.push_back(
        fmt::format("{} us: {}", static_cast<double>(r.time_ns) / 1000, lab.name_of(r.task_id())));
  }
  EXPECT_EQ(fired, (Lines{"1050 us: a", "1050 us: b", "1100 us: rt", "1100 us: c"}));
}

// pack_below of a guest: while the waker's CPU has room, a wakeup does not go to an idle CPU where
// the wakee was not before.
TEST(History, AGuestThatPacksLeavesIdleCpusAlone) {
  struct Case {
    uint32_t pack_below;
    uint16_t util;
    uint32_t cpu;
  };
  for (const auto& [pack_below, util, cpu] :
       {Case{0, 100, 1}, Case{717, 700, 0}, Case{717, 800, 1}}) {
    Lab lab("pack:1 l3:1 core:2 pu:1", "6.18,NO_SIS_UTIL");
    lab.machine().guest.pack_below = pack_below;
    lab.task("waker").on("0").settled(util).run(1_us).wake("w").run(1_ms);
    lab.task("w").waits().run(1_us);
    lab.run();
    const auto placed = lab.records(RecordKind::placement);
    ASSERT_EQ(placed.size(), 1U);
    EXPECT_EQ(placed[0].a >> 16, cpu) << pack_below << ", " << util;
  }
}

TEST(History, AFifoTaskPreemptsAtOnceAndRunsToItsEnd) {
  Lab lab;
  lab.task("hog").run(10_ms);
  lab.task("rt").fifo(50).starts(2500_us).run(1_ms);
  lab.run();
  EXPECT_EQ(lab.switches(),
            (Lines{"0 us, CPU 0: idle -> hog", "2500 us, CPU 0: hog (preempted) -> rt",
                   "3500 us, CPU 0: rt (exited) -> hog", "11000 us, CPU 0: hog (exited) -> idle"}));
}

TEST(History, FifoTasksOfEqualPriorityDoNotShare) {
  Lab lab;
  lab.task("a").fifo(10).run(20_ms);
  lab.task("b").fifo(10).starts(1_ms).run(20_ms);
  lab.task("c").fifo(11).starts(2_ms).run(1_ms);
  lab.run();
  EXPECT_EQ(lab.switches(),
            (Lines{"0 us, CPU 0: idle -> a", "2000 us, CPU 0: a (preempted) -> c",
                   "3000 us, CPU 0: c (exited) -> a", "21000 us, CPU 0: a (exited) -> b",
                   "41000 us, CPU 0: b (exited) -> idle"}));
}

TEST(History, RoundRobinTasksTakeTurnsOfOneHundredMs) {
  Lab lab;
  lab.task("a").fifo(10).policy(Policy::rr).run(250_ms);
  lab.task("b").fifo(10).policy(Policy::rr).run(150_ms);
  lab.run();
  EXPECT_EQ(lab.switches(),
            (Lines{"0 us, CPU 0: idle -> a", "100000 us, CPU 0: a (preempted) -> b",
                   "200000 us, CPU 0: b (preempted) -> a", "300000 us, CPU 0: a (preempted) -> b",
                   "350000 us, CPU 0: b (exited) -> a", "400000 us, CPU 0: a (exited) -> idle"}));
}

TEST(History, AWakeupBeforeTheBlockIsKept) {
  Lab lab("pack:1 l3:1 core:2 pu:1");
  lab.task("early").on("0").wake("late");
  lab.task("late").on("1").run(1_ms).block().run(1_ms);
  EXPECT_EQ(lab.run().end, RunEnd::all_exited);
  EXPECT_EQ(lab.cpu_time("late"), 2_ms);
}

TEST(History, TasksThatWaitForEverAreReported) {
  Lab lab;
  lab.task("a").block();
  const RunResult& r = lab.run();
  EXPECT_EQ(r.end, RunEnd::quiescent);
  EXPECT_EQ(r.tasks_left, 1U);
}

// A CPU that becomes idle beside a queue pulls from it at once (newidle).
TEST(History, ACpuDoesNotIdleBesideAQueue) {
  Lab lab("pack:1 l3:1 core:2 pu:1");
  lab.task("a").starts(0_us, 0).run(20_ms);
  lab.task("b").starts(0_us, 0).run(20_ms);
  lab.task("c").starts(0_us, 1).run(1_ms);
  const RunResult& r = lab.run();
  EXPECT_EQ(r.finished, SimTime{} + 21_ms);
}

TEST(History, ReniceChangesTheShare) {
  Lab lab;
  lab.task("a").run(10_ms).set_nice(19).run(1_s);
  lab.task("b").run(1_s);
  lab.run(1_s);
  EXPECT_GT(lab.cpu_time("b"), 950_ms);
}

// FAIR.md and figures.csv "share nice 0 : 5 on one CPU" = 0.753.
TEST(Shares, NiceZeroBesideNiceFive) {
  Lab lab("vm-2", "6.18.44");
  lab.task("n0").on("0").run(100_s);
  lab.task("n5").on("0").nice(5).run(100_s);
  lab.run(10_s);
  const double a = static_cast<double>(lab.cpu_time("n0").ns());
  const double b = static_cast<double>(lab.cpu_time("n5").ns());
  EXPECT_NEAR(a / (a + b), 0.754, 0.005);
}

TEST(Shares, AllNiceValuesFollowTheirWeights) {
  Lab lab;
  lab.task("n0").run(1000_s);
  lab.task("n10").nice(10).run(1000_s);
  lab.task("n-5").nice(-5).run(1000_s);
  lab.run(100_s);
  const double total = 1024 + 110 + 3121;
  EXPECT_NEAR(static_cast<double>(lab.cpu_time("n0").ns()) / 100e9, 1024 / total, 0.005);
  EXPECT_NEAR(static_cast<double>(lab.cpu_time("n10").ns()) / 100e9, 110 / total, 0.005);
  EXPECT_NEAR(static_cast<double>(lab.cpu_time("n-5").ns()) / 100e9, 3121 / total, 0.005);
}

}  // namespace
}  // namespace runqlab::sim
