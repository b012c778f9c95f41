// The search for an idle CPU: its limits, whole cores, siblings, clusters (FAIR.md D.6, D.7).
#include <gtest/gtest.h>

#include "sched/placement_lab.h"

namespace runqlab::sched {
namespace {

constexpr const char* kUma8 = "pack:1 l3:1 core:8 pu:1";
constexpr const char* kSmt8 = "pack:1 l3:1 core:4 pu:2";           // threads c and c + 4
constexpr const char* kClusters = "pack:1 l3:1 l2:4 core:4 pu:1";  // 0-3, 4-7, 8-11, 12-15

// --- Budget ------------------------------------------------------------------------------------

TEST(IdleScan, StartsBehindTheTargetAndWraps) {
  PlacementLab lab(kUma8);
  lab.busy("4-7");
  const Placement p = lab.wake(lab.task(5), 5);
  EXPECT_PLACED(p, 0, PlacementRule::idle_cpu);
  EXPECT_EQ(p.probes, 3);  // 6, 7, 0
}

TEST(IdleScan, SisUtilStopsItBeforeTheIdleCpu) {
  PlacementLab lab(kUma8);
  lab.busy("0-5");
  lab.llc(0).nr_idle_scan = 2;
  EXPECT_PLACED(lab.wake(lab.task(3), 3), 3, PlacementRule::none_idle);
  lab.llc(0).nr_idle_scan = 3;
  EXPECT_PLACED(lab.wake(lab.task(3), 3), 6, PlacementRule::idle_cpu);
  PlacementLab off(kUma8, "6.18,NO_SIS_UTIL");
  off.busy("0-5");
  off.llc(0).nr_idle_scan = 0;
  EXPECT_PLACED(off.wake(off.task(3), 3), 6, PlacementRule::idle_cpu);
}

// A CPU outside the mask costs nothing; the target itself does.
TEST(IdleScan, TheBudgetCountsCpusOfTheMask) {
  PlacementLab lab(kUma8);
  lab.busy("0-5");
  lab.llc(0).nr_idle_scan = 1;
  Task& p = lab.task(3);
  lab.allow(p, "3,7");
  EXPECT_PLACED(lab.wake(p, 3), 7, PlacementRule::idle_cpu);
}

TEST(IdleScan, AFullCacheStopsTheSearchForCoresToo) {
  PlacementLab lab(kSmt8);
  lab.busy("0,4");
  lab.llc(0).has_idle_cores = true;
  lab.llc(0).nr_idle_scan = 0;
  EXPECT_PLACED(lab.wake(lab.task(0), 0), 0, PlacementRule::none_idle);
  EXPECT_TRUE(lab.llc(0).has_idle_cores);
}

// --- SMT ---------------------------------------------------------------------------------------

TEST(SmtSibling, OfThePreviousCpuWhenNoCoreIsIdle) {
  PlacementLab lab(kSmt8);
  lab.busy("0-3");
  Task& p = lab.task(2);
  EXPECT_PLACED(lab.wake(p, 0), 6, PlacementRule::smt_sibling);
  lab.allow(p, "0-5,7");
  EXPECT_PLACED(lab.wake(p, 0), 4, PlacementRule::idle_cpu);
}

TEST(SmtSibling, TheLowestOfSeveral) {
  PlacementLab lab("pack:1 l3:1 core:2 pu:4");  // 0,2,4,6 and 1,3,5,7
  lab.busy("0,2,3");
  EXPECT_PLACED(lab.wake(lab.task(3), 3), 1, PlacementRule::smt_sibling);
}

TEST(SmtSibling, NotWhileACoreIsIdle) {
  PlacementLab lab(kSmt8);
  lab.busy("0-2");
  lab.llc(0).has_idle_cores = true;
  EXPECT_PLACED(lab.wake(lab.task(2), 0), 3, PlacementRule::idle_core);
}

TEST(SmtSibling, NotInAnotherCache) {
  PlacementLab lab("pack:1 l3:2 core:2 pu:2");  // 0-1,4-5 and 2-3,6-7
  lab.busy("0,2");
  const Placement p = lab.wake(lab.task(2), 0, true);  // the target is CPU 0, the sibling of 2 is 6
  EXPECT_PLACED(p, 1, PlacementRule::idle_cpu);
}

TEST(IdleCore, TheCandidateIsTheFirstThreadInTheOrderOfTheScan) {
  PlacementLab lab(kSmt8);
  lab.busy("0,1,2");
  lab.llc(0).has_idle_cores = true;
  lab.llc(0).nr_idle_scan = 1;  // the search for a core has no budget
  EXPECT_PLACED(lab.wake(lab.task(2), 2), 3, PlacementRule::idle_core);
  Task& p = lab.task(2);
  lab.allow(p, "0-2,7");  // CPU 3 counts as idle although the task may not use it
  EXPECT_PLACED(lab.wake(p, 2), 7, PlacementRule::idle_core);
}

TEST(IdleCore, WithoutOneTheFirstThreadSeenIsTakenAndTheHintCleared) {
  PlacementLab lab(kSmt8);
  lab.busy("0-3");
  lab.llc(0).has_idle_cores = true;
  EXPECT_PLACED(lab.wake(lab.task(1), 1), 6, PlacementRule::idle_cpu);
  EXPECT_FALSE(lab.llc(0).has_idle_cores);
  lab.llc(0).has_idle_cores = true;
  lab.busy("4-7");
  EXPECT_PLACED(lab.wake(lab.task(1), 1), 1, PlacementRule::none_idle);
  EXPECT_FALSE(lab.llc(0).has_idle_cores);
}

// A thread with idle-policy tasks is remembered like an idle one, but makes no idle core.
TEST(IdleCore, IdlePolicyThreads) {
  PlacementLab lab(kSmt8);
  lab.busy("0,1,4-7");
  lab.busy("2,3", 3, Policy::idle);
  lab.llc(0).has_idle_cores = true;
  EXPECT_PLACED(lab.wake(lab.task(1), 1), 2, PlacementRule::idle_cpu);
}

// --- Clusters ----------------------------------------------------------------------------------

TEST(Cluster, TheTargetsOwnIsSearchedFirst) {
  PlacementLab lab(kClusters);
  lab.busy("5-7");
  EXPECT_PLACED(lab.wake(lab.task(5), 5), 4, PlacementRule::idle_cpu);
  PlacementLab off(kClusters, "6.18,NO_SIS_CLUSTER");
  off.busy("5-7");
  EXPECT_PLACED(off.wake(off.task(5), 5), 8, PlacementRule::idle_cpu);
}

TEST(Cluster, ThenTheOthersWithTheSameBudget) {
  PlacementLab lab(kClusters);
  lab.busy("4-9");
  lab.llc(0).nr_idle_scan = 7;  // four of the cluster, then 8, 9, 10
  const Placement p = lab.wake(lab.task(5), 5);
  EXPECT_PLACED(p, 10, PlacementRule::idle_cpu);
  EXPECT_EQ(p.probes, 7);
  lab.llc(0).nr_idle_scan = 6;
  EXPECT_PLACED(lab.wake(lab.task(5), 5), 5, PlacementRule::none_idle);
  lab.llc(0).nr_idle_scan = 3;  // used up in the cluster
  EXPECT_EQ(lab.wake(lab.task(5), 5).probes, 3);
}

TEST(Cluster, AnIdlePreviousCpuElsewhereIsTheLastResort) {
  PlacementLab lab(kClusters);
  lab.busy("0-3");
  EXPECT_PLACED(lab.wake(lab.task(9), 1, true), 4, PlacementRule::idle_cpu);
  lab.busy("4-8,10-15");
  lab.llc(0).nr_idle_scan = 2;
  Task& p = lab.task(9);
  EXPECT_PLACED(lab.wake(p, 1, true), 9, PlacementRule::cluster_fallback);
  lab.busy("9");
  Task& q = lab.task(9);
  q.recent_used_cpu = CpuId(12);
  lab.rq(12).curr = TaskId::none();
  lab.rq(12).nr_running = 0;
  EXPECT_PLACED(lab.wake(q, 1, true), 12, PlacementRule::cluster_fallback);
  // In the target's own cluster both are taken at once.
  PlacementLab own(kClusters);
  own.busy("0");
  EXPECT_PLACED(own.wake(own.task(3), 0, true), 3, PlacementRule::prev_idle);
}

// A thread that is free in the cluster does not end the search for an idle core.
TEST(Cluster, AnIdleCoreElsewhereBeatsAThreadInTheCluster) {
  PlacementLab lab("pack:1 l3:1 l2:2 core:2 pu:2");  // clusters 0-1,4-5 and 2-3,6-7
  lab.busy("0,1");
  lab.llc(0).has_idle_cores = true;
  EXPECT_PLACED(lab.wake(lab.task(0), 0), 2, PlacementRule::idle_core);
  lab.busy("2,3");
  EXPECT_PLACED(lab.wake(lab.task(0), 0), 5, PlacementRule::idle_cpu);
  EXPECT_FALSE(lab.llc(0).has_idle_cores);
}

}  // namespace
}  // namespace runqlab::sched
