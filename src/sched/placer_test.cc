// Where a woken task goes, rule by rule (FAIR.md D.3 to D.7).
#include "sched/placer.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "sched/placement_lab.h"
#include "trace/import/vectors.h"

namespace runqlab::sched {
namespace {

using namespace literals;

const std::string kVectors = std::string(RUNQLAB_TEST_DATA) + "/vectors/";

constexpr const char* kUma8 = "pack:1 l3:1 core:8 pu:1";
constexpr const char* kTwoLlcs = "pack:1 l3:2 core:2 pu:1";

// --- Vectors -----------------------------------------------------------------------------------

TEST(WakeWide, Vectors) {
  for (const VectorRow& row : VectorFile(kVectors + "wake_wide.csv")) {
    EXPECT_EQ(wake_wide(static_cast<uint32_t>(row.natural("waker_flips(after record_wakee)")),
                        static_cast<uint32_t>(row.natural("wakee_flips")),
                        static_cast<uint32_t>(row.natural("llc_size"))),
              row.flag("wide"))
        << row.to_string();
  }
}

TEST(WakeAffine, WeightVectors) {
  for (const VectorRow& row : VectorFile(kVectors + "wake_affine_weight.csv")) {
    SCOPED_TRACE(row.to_string());
    const AffineWeight w = compare_loads({.this_load = row.number("this_cpu_load"),
                                          .prev_load = row.number("prev_cpu_load"),
                                          .current_load = row.number("current_h_load"),
                                          .wakee_load = row.number("wakee_h_load"),
                                          .this_capacity = row.number("cap_this"),
                                          .prev_capacity = row.number("cap_prev")},
                                         static_cast<uint32_t>(row.natural("sd_imbalance_pct")),
                                         row.flag("sync"), row.flag("WA_BIAS"));
    EXPECT_EQ(w.rule != AffineRule::weight_prev, row.text("winner") == "this");
    if (row.text("this_eff_load").empty()) {
      EXPECT_EQ(w.rule, AffineRule::sync_load);
    } else {
      EXPECT_EQ(w.this_eff, row.number("this_eff_load"));
      EXPECT_EQ(w.prev_eff, row.number("prev_eff_load"));
    }
  }
}

// How many CPUs a search looks at when it finds nothing.
TEST(SisProp, Vectors) {
  for (const VectorRow& row : VectorFile(kVectors + "sis_prop.csv")) {
    EXPECT_EQ(
        sis_prop_budget(row.number("llc_span_weight"), Duration::nanos(row.number("wake_avg_idle")),
                        Duration::nanos(row.number("avg_scan_cost"))),
        row.number("nr"))
        << row.to_string();
  }
}

TEST(SisUtil, ProbesBeforeGivingUp) {
  std::map<std::string, std::unique_ptr<PlacementLab>> labs;  // by the size of the cache, all busy
  for (const VectorRow& row : VectorFile(kVectors + "sis_util.csv")) {
    SCOPED_TRACE(row.to_string());
    const std::string& cpus = row.text("llc_weight");
    auto& lab = labs[cpus];
    if (lab == nullptr) {
      lab = std::make_unique<PlacementLab>("pack:1 l3:1 core:" + cpus + " pu:1");
      lab->busy("0-" + std::to_string(std::stoul(cpus) - 1));
    }
    lab->llc(0).nr_idle_scan = row.number("nr_idle_scan");
    const Placement p = lab->wake(lab->task(1), 0);
    const std::string& probes = row.text("cpus_probed_before_giving_up");
    EXPECT_EQ(p.probes, probes == "-1 (no scan)" ? 0 : std::stoi(probes));
    EXPECT_EQ(p.rule, PlacementRule::none_idle);
  }
}

// --- wake_affine -------------------------------------------------------------------------------

TEST(WakeAffine, SyncFromALoneWakerPullsToItsCache) {
  PlacementLab lab(kTwoLlcs);
  lab.busy("0");
  const Placement p = lab.wake(lab.task(2), 0, true);
  EXPECT_EQ(p.affine, AffineRule::sync_alone);
  EXPECT_PLACED(p, 1, PlacementRule::idle_cpu);
  PlacementLab two(kTwoLlcs);
  two.run(two.busy("0"), 0, 2048, 2);
  EXPECT_PLACED(two.wake(two.task(2), 0, true), 2, PlacementRule::target_idle);
  PlacementLab leaving(kTwoLlcs);
  leaving.busy("0").exiting = true;
  EXPECT_PLACED(leaving.wake(leaving.task(2), 0, true), 2, PlacementRule::target_idle);
}

// BUGS.md 5.
TEST(WakeAffine, DelayedSleepersDoNotCountFrom616On) {
  for (const auto& [arm, cpu] : {std::pair("6.12", 2), {"6.15", 2}, {"6.12.95", 0}, {"6.16", 0}}) {
    PlacementLab lab(kTwoLlcs, arm);
    lab.busy("1");
    lab.run(lab.busy("0"), 0, 2048, 2);
    lab.rq(0).cfs.nr_delayed = 1;
    EXPECT_EQ(lab.wake(lab.task(2), 0, true).cpu, CpuId::of(static_cast<size_t>(cpu))) << arm;
  }
}

TEST(WakeAffine, AnInterruptOnAnIdleCpuOfTheSameCache) {
  PlacementLab lab(kUma8);
  lab.busy("3");
  const Placement p = lab.wake(lab.task(3), 5, false, WakeContext::hardirq);
  EXPECT_EQ(p.affine, AffineRule::this_idle);
  EXPECT_PLACED(p, 5, PlacementRule::target_idle);
  PlacementLab both(kUma8);
  const Placement stay = both.wake(both.task(3), 5, false, WakeContext::hardirq);
  EXPECT_EQ(stay.affine, AffineRule::prev_idle);
  EXPECT_PLACED(stay, 3, PlacementRule::target_idle);
}

TEST(WakeAffine, WithoutWaIdleAndWaWeightThePreviousCpuIsKept) {
  PlacementLab lab(kTwoLlcs, "6.18,NO_WA_IDLE,NO_WA_WEIGHT");
  lab.busy("0");
  lab.busy("2");
  const Placement p = lab.wake(lab.task(2), 0, true);
  EXPECT_EQ(p.affine, AffineRule::not_asked);
  EXPECT_PLACED(p, 3, PlacementRule::idle_cpu);
}

// Nodes at distance 21 get affine wakeups, those at 32 do not.
TEST(WakeAffine, AcrossNodes) {
  PlacementLab near("xeon-e5-2699v3-2s");
  near.busy("0");
  EXPECT_EQ(near.wake(near.task(18), 0, true).affine, AffineRule::sync_alone);
  PlacementLab far("epyc-7763-2s");
  far.busy("0");
  const Placement p = far.wake(far.task(64), 0, true);
  EXPECT_EQ(p.affine, AffineRule::not_asked);
  EXPECT_PLACED(p, 64, PlacementRule::target_idle);
}

TEST(WakeWide, AWideWakeupStaysAtThePreviousCpu) {
  PlacementLab lab(kTwoLlcs);
  Task& server = lab.busy("0");
  server.wakees.flips = 30;
  Task& p = lab.task(2);
  p.wakees.flips = 4;
  lab.busy("2");
  const Placement wide = lab.wake(p, 0, true);
  EXPECT_EQ(wide.affine, AffineRule::not_asked);
  EXPECT_PLACED(wide, 3, PlacementRule::idle_cpu);
  EXPECT_EQ(server.wakees.flips, 31U);
}

TEST(WakeWide, FlipsCountChangesOfTheWakeeAndAgeByTheSecond) {
  PlacementLab lab(kUma8);
  Task& waker = lab.busy("0");
  Task &a = lab.task(1), &b = lab.task(2);
  lab.wake(a, 0);
  lab.wake(a, 0);
  EXPECT_EQ(waker.wakees.flips, 1U);
  lab.wake(b, 0);
  EXPECT_EQ(waker.wakees.flips, 2U);
  // More than HZ jiffies: the stamp lies in jiffy 2, so jiffy 253 is the first.
  waker.wakees = {.flips = 9, .last = b.id, .decayed_at = SimTime{} + 11_ms};
  const auto wake_at = [&](Duration at) {
    lab.placer.select(b, {CpuId(0), SimTime{} + at}, wake_flags::kTtwu, WakeContext::task);
    return waker.wakees.flips;
  };
  EXPECT_EQ(wake_at(1'011'999'999_ns), 9U);
  EXPECT_EQ(wake_at(1012_ms), 4U);
  EXPECT_EQ(wake_at(1013_ms), 4U);  // halved once, however long it was
}

// An interrupt on an idle CPU wakes in the name of the idle task.
TEST(WakeWide, TheIdleTaskIsAWakerToo) {
  PlacementLab lab(kUma8);
  lab.wake(lab.task(1), 0, false, WakeContext::hardirq);
  EXPECT_EQ(lab.rq(0).idle_wakees.flips, 1U);
}

// --- Before the search -------------------------------------------------------------------------

TEST(SelectIdleSibling, TheIdlePreviousCpuIsTakenAtOnce) {
  PlacementLab lab(kUma8);
  lab.busy("0");
  Task& p = lab.task(3);
  p.recent_used_cpu = CpuId(6);
  const Placement sync = lab.wake(p, 0, true);  // the target is CPU 0
  EXPECT_EQ(sync.affine, AffineRule::sync_alone);
  EXPECT_PLACED(sync, 3, PlacementRule::prev_idle);
  EXPECT_EQ(sync.probes, 0);
  EXPECT_EQ(p.recent_used_cpu, CpuId(6));  // the rules before it do not touch it
}

TEST(SelectIdleSibling, ACpuThatOnlyRunsIdlePolicyIsAsGoodAsIdle) {
  PlacementLab lab(kUma8);
  lab.busy("0");
  lab.busy("3", 3, Policy::idle);
  EXPECT_PLACED(lab.wake(lab.task(3), 0, true), 3, PlacementRule::prev_idle);
  lab.rq(3).nr_running = 2;  // a normal task waits there too
  EXPECT_PLACED(lab.wake(lab.task(3), 0, true), 1, PlacementRule::idle_cpu);
}

TEST(SelectIdleSibling, AWakeupOnItsWayMakesACpuBusy) {
  PlacementLab lab(kUma8);
  lab.busy("0");
  lab.rq(3).ttwu_pending = true;
  EXPECT_PLACED(lab.wake(lab.task(3), 0), 4, PlacementRule::idle_cpu);
}

TEST(SelectIdleSibling, AVirtualCpuThatTheHostTookAwayIsNotIdle) {
  PlacementLab lab("vm-2");  // its CPUs have halted for 100 ms
  lab.busy("0");
  EXPECT_PLACED(lab.wake(lab.task(1), 0), 1, PlacementRule::none_idle);
  lab.spec.guest.gone_after.reset();
  EXPECT_PLACED(lab.wake(lab.task(1), 0), 1, PlacementRule::target_idle);
}

TEST(SelectIdleSibling, APerCpuKthreadKeepsItsSubmitter) {
  const auto wake = [](uint32_t nr_running, size_t prev, WakeContext context) {
    PlacementLab lab(kUma8);
    Task& kworker = lab.busy("2");
    kworker.percpu_kthread = true;
    lab.run(kworker, 2, 1024, nr_running);
    return lab.wake(lab.task(prev), 2, false, context).rule;
  };
  EXPECT_EQ(wake(1, 2, WakeContext::task), PlacementRule::kthread_stack);
  EXPECT_EQ(wake(2, 2, WakeContext::task), PlacementRule::idle_cpu);
  EXPECT_EQ(wake(1, 3, WakeContext::task), PlacementRule::target_idle);
  // An interrupt on top of it is not its I/O.
  EXPECT_EQ(wake(1, 2, WakeContext::hardirq), PlacementRule::idle_cpu);
  EXPECT_EQ(wake(1, 2, WakeContext::softirq), PlacementRule::idle_cpu);
}

TEST(SelectIdleSibling, RecentUsedCpu) {
  PlacementLab lab(kUma8);
  lab.busy("0,1,3,4");
  Task& p = lab.task(3);
  p.recent_used_cpu = CpuId(6);
  EXPECT_PLACED(lab.wake(p, 3), 6, PlacementRule::recent_used);
  EXPECT_EQ(p.recent_used_cpu, CpuId(3));
  EXPECT_PLACED(lab.wake(p, 3), 5, PlacementRule::idle_cpu);  // it is the previous CPU now
}

// BUGS.md 10: before 6.5 the wrong CPU was tested against the mask.
TEST(SelectIdleSibling, RecentUsedCpuAndAffinity) {
  const auto wake = [](const char* arm, const char* allowed) {
    PlacementLab lab("pack:1 l3:1 core:4 pu:1", arm);
    lab.busy("0,1");
    Task& p = lab.task(1, 5000);
    p.recent_used_cpu = CpuId(2);
    lab.allow(p, allowed);
    return lab.wake(p, 0, true);
  };
  constexpr const char* kBefore = "6.18,NO_RECENT_USED_MASK";
  EXPECT_PLACED(wake(kBefore, "0-1"), 0, PlacementRule::fallback);
  EXPECT_PLACED(wake("6.18", "0-1"), 0, PlacementRule::none_idle);
  EXPECT_PLACED(wake("6.18", "0,2"), 2, PlacementRule::recent_used);
  EXPECT_PLACED(wake(kBefore, "0,2"), 2, PlacementRule::idle_cpu);
}

// --- Affinity ----------------------------------------------------------------------------------

TEST(Affinity, OneAllowedCpuIsNoChoice) {
  PlacementLab lab(kUma8);
  Task& waker = lab.busy("0");
  Task& p = lab.task(3);
  lab.allow(p, "7");
  EXPECT_PLACED(lab.wake(p, 0), 7, PlacementRule::only_allowed);
  EXPECT_EQ(waker.wakees.flips, 0U);  // the class was not asked
}

TEST(Affinity, TheSearchStaysInTheMask) {
  PlacementLab lab(kUma8);
  lab.busy("0,3");
  Task& p = lab.task(3);
  lab.allow(p, "0,3,6");
  EXPECT_PLACED(lab.wake(p, 3), 6, PlacementRule::idle_cpu);
}

// The previous CPU is taken without a look at the mask; then its node comes first.
TEST(Affinity, AnAnswerOutsideTheMaskIsReplaced) {
  PlacementLab lab("pack:2 [numa] l3:1 core:4 pu:1");
  lab.busy("1");
  Task& p = lab.task(5);
  lab.allow(p, "0,2,6-7");
  EXPECT_PLACED(lab.wake(p, 1), 6, PlacementRule::fallback);
  lab.allow(p, "0,2");
  EXPECT_PLACED(lab.wake(p, 1), 0, PlacementRule::fallback);
}

}  // namespace
}  // namespace runqlab::sched
