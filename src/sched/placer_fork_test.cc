// Where forked and real-time tasks go (FAIR.md D.9, F.2).
#include <gtest/gtest.h>

#include "sched/placement_lab.h"

namespace runqlab::sched {
namespace {

constexpr const char* kUma4 = "pack:1 l3:1 core:4 pu:1";
constexpr const char* kTwoLlcs = "pack:1 l3:2 core:2 pu:1";  // 0-1 and 2-3
constexpr const char* kHsw72 = "pack:2 [numa] l3:1 core:18 pu:2";

TEST(Fork, TheFirstIdleCpuInTheOrderOfTheRing) {
  PlacementLab lab(kUma4);
  lab.busy("2");
  EXPECT_PLACED(lab.fork(lab.task(2), 2), 3, PlacementRule::slow_path);
  lab.busy("3");
  EXPECT_PLACED(lab.fork(lab.task(2), 2), 0, PlacementRule::slow_path);
}

TEST(Fork, LessUtilisationBreaksTheTie) {
  PlacementLab lab(kUma4);
  lab.busy("2");
  lab.rq(3).cfs.avg.util_avg = 200;
  lab.rq(0).cfs.avg.util_avg = 100;
  EXPECT_PLACED(lab.fork(lab.task(2), 2), 1, PlacementRule::slow_path);
  lab.rq(1).cfs.avg.util_avg = 150;
  EXPECT_PLACED(lab.fork(lab.task(2), 2), 0, PlacementRule::slow_path);
}

TEST(Fork, OnAnIdleCpuTheChildStays) {
  PlacementLab lab(kUma4);
  EXPECT_PLACED(lab.fork(lab.task(1), 1), 1, PlacementRule::slow_path_stay);
}

// By 17 % of the load here; across nodes also by 17 % of a nice-0 task.
TEST(Fork, AmongBusyCpusTheLoadMustBeClearlyLower) {
  const auto moves = [](const char* machine, uint64_t here, uint64_t there) {
    PlacementLab lab(machine);
    for (const size_t cpu : {0, 1}) {
      lab.run(lab.task(cpu), cpu, cpu == 0 ? here : there, 3);
      lab.rq(cpu).cfs.avg.util_avg = 1024;
      lab.rq(cpu).cfs.avg.runnable_avg = 3000;
    }
    return lab.fork(lab.task(0), 0).cpu == CpuId(1);
  };
  constexpr const char* kOneNode = "pack:1 l3:1 core:2 pu:1";
  constexpr const char* kTwoNodes = "pack:2 [numa] l3:1 core:1 pu:1";
  EXPECT_TRUE(moves(kOneNode, 3072, 2625));
  EXPECT_FALSE(moves(kOneNode, 3072, 2626));
  EXPECT_TRUE(moves(kOneNode, 700, 598));
  EXPECT_FALSE(moves(kOneNode, 700, 599));
  EXPECT_TRUE(moves(kTwoNodes, 700, 525));
  EXPECT_FALSE(moves(kTwoNodes, 700, 526));
}

// Two idle CPUs in the group: the one that went idle last has the warmer cache.
TEST(Fork, TheLatestIdleStamp) {
  PlacementLab lab("pack:1 l3:2 core:4 pu:1");
  lab.busy("0-2");
  lab.rq(6).idle_stamp_ns = 9;
  lab.rq(5).idle_stamp_ns = 8;
  // The larger domain names CPU 6; below it every other CPU is as idle.
  EXPECT_PLACED(lab.fork(lab.task(0), 0), 6, PlacementRule::slow_path);
  lab.rq(6).idle_stamp_ns = 0;  // never chosen
  EXPECT_PLACED(lab.fork(lab.task(0), 0), 5, PlacementRule::slow_path);
}

TEST(Fork, ACpuThatOnlyRunsIdlePolicyComesFirst) {
  PlacementLab lab(kTwoLlcs);
  lab.busy("0,1");
  lab.busy("3", 3, Policy::idle);
  lab.rq(2).idle_stamp_ns = 99;
  // Within the other cache it is found before the idle CPU; the level below corrects that.
  EXPECT_PLACED(lab.fork(lab.task(0), 0), 2, PlacementRule::slow_path);
  // It is not counted among the idle ones.
  lab.busy("2");
  EXPECT_PLACED(lab.fork(lab.task(0), 0), 0, PlacementRule::slow_path_stay);
}

TEST(Fork, SpreadsOverCachesFirst) {
  PlacementLab lab("pack:1 l3:2 core:4 pu:1");
  lab.busy("0,1");
  EXPECT_EQ(lab.fork(lab.task(0), 0).cpu, CpuId(4));
}

TEST(Fork, StaysInTheMask) {
  PlacementLab lab(kUma4);
  lab.busy("0");
  Task& p = lab.task(0);
  lab.allow(p, "0,2");
  EXPECT_PLACED(lab.fork(p, 0), 2, PlacementRule::slow_path);
  lab.allow(p, "2-3");
  EXPECT_PLACED(lab.fork(p, 0), 2, PlacementRule::slow_path);
}

// BUGS.md 15: up to imb_numa_nr tasks stay on the node as long as the difference is small.
TEST(Fork, TheFirstChildrenStayOnTheNode) {
  const auto node_of_child = [](const char* busy) {
    PlacementLab lab(kHsw72);
    lab.busy(busy);
    const CpuId cpu = lab.fork(lab.task(0), 0).cpu;
    return lab.spec.topology.cpu(cpu).node.value();
  };
  EXPECT_EQ(node_of_child("0"), 0);
  EXPECT_EQ(node_of_child("0-1"), 0);
  EXPECT_EQ(node_of_child("0-2"), 1);        // three idle CPUs fewer
  EXPECT_EQ(node_of_child("0-4,18-20"), 1);  // more than imb_numa_nr = 4 run here
  EXPECT_EQ(node_of_child("0-2,18"), 0);
}

// With an affinity of one CPU per node nothing is tolerated.
TEST(Fork, TheToleranceIsLimitedByTheMask) {
  PlacementLab lab(kHsw72);
  lab.busy("0,1");
  Task& p = lab.task(0);
  lab.allow(p, "0,18-20");
  EXPECT_EQ(lab.fork(p, 0).cpu, CpuId(18));
}

TEST(Fork, AFarNodeIsNotConsidered) {
  PlacementLab lab("epyc-7763-2s");  // distance 32
  lab.busy("0-63,128-191");
  EXPECT_LT(lab.fork(lab.task(0), 0).cpu, CpuId(192));
  EXPECT_EQ(lab.spec.topology.cpu(lab.fork(lab.task(0), 0).cpu).node.value(), 0);
}

// SLOWPATH_ALLOWED_ONLY: what CPUs outside the mask do is not counted.
TEST(Fork, StatisticsOverTheMask) {
  const auto fork = [](const char* arm) {
    PlacementLab lab("pack:1 l3:2 core:4 pu:1", arm);
    lab.busy("0,4");
    Task& p = lab.task(0);
    lab.allow(p, "0,4-7");  // four idle CPUs in the first cache would not help
    lab.busy("5");
    return lab.fork(p, 0).cpu;
  };
  EXPECT_EQ(fork("6.18"), CpuId(0));
  EXPECT_EQ(fork("6.18,SLOWPATH_ALLOWED_ONLY"), CpuId(6));
}

// --- Real-time ---------------------------------------------------------------------------------

class RtPlacement : public testing::Test {
 protected:
  Task& rt(size_t prev, int priority) {
    Task& p = lab.task(prev);
    p.sched_class = SchedClass::rt;
    p.policy = Policy::fifo;
    p.rt_priority = static_cast<uint8_t>(priority);
    return p;
  }
  Task& runs_rt(size_t cpu, int priority) {
    Task& p = rt(cpu, priority);
    lab.run(p, cpu);
    Rq& rq = lab.rq(cpu);
    rq.cfs.nr_queued = 0;
    rq.rt.nr_running = 1;
    const auto i = static_cast<size_t>(100 - priority);
    rq.rt.nonempty[i / 64] = uint64_t{1} << (i % 64);
    return p;
  }
  PlacementLab lab{kUma4};
};

TEST_F(RtPlacement, StaysWhereItPreempts) {
  lab.busy("1");
  EXPECT_PLACED(lab.wake(rt(1, 10), 0), 1, PlacementRule::rt_stay);
  runs_rt(2, 5);
  EXPECT_PLACED(lab.wake(rt(2, 10), 0), 2, PlacementRule::rt_stay);
}

TEST_F(RtPlacement, LooksForTheLeastUrgentCpu) {
  runs_rt(1, 50);
  lab.busy("0,2");
  EXPECT_PLACED(lab.wake(rt(1, 50), 0), 3, PlacementRule::rt_lowest);
  runs_rt(0, 40);
  runs_rt(2, 20);
  runs_rt(3, 30);
  EXPECT_PLACED(lab.wake(rt(1, 50), 0), 2, PlacementRule::rt_lowest);
  // Nobody is less urgent than it.
  EXPECT_PLACED(lab.wake(rt(1, 10), 0), 1, PlacementRule::rt_stay);
}

TEST_F(RtPlacement, APinnedTaskCannotBePushedAway) {
  lab.allow(runs_rt(1, 5), "1");
  EXPECT_PLACED(lab.wake(rt(1, 10), 0), 0, PlacementRule::rt_lowest);
}

}  // namespace
}  // namespace runqlab::sched
