// Balancing passes over queues that a test fills (FAIR.md E.2, E.3, E.6).
#include "sched/balancer.h"

#include <gtest/gtest.h>

#include "sched/placement_lab.h"

namespace runqlab::sched {
namespace {

using namespace literals;

constexpr const char* kTwo = "pack:1 l3:1 core:2 pu:1";
constexpr const char* kTwoLlcs = "pack:1 l3:2 core:2 pu:1";
constexpr SimTime kStart = SimTime::from_ns(10'000'000'000);  // jiffy 2500
constexpr int64_t kJiffy = 2500;

class BalanceLab : public PlacementLab {
 public:
  explicit BalanceLab(std::string_view machine, std::string_view arm = "6.18")
      : PlacementLab(machine, arm),
        config(parse_arm(arm, kernel_of("6.18").value()).value()),
        fair(fair_params(config, 8, 4_ms), s.tasks, s.overload),
        balancer(s, fair, Rng(1)) {
    for (Rq& r : s.rqs) {
      r.avg_idle = 1_ms;
      r.max_idle_balance_cost = 500_us;
      r.next_balance = 1'000'000;
    }
    for (auto& ladder : s.domains.of) {
      for (SchedDomain& d : ladder) d.last_balance = kJiffy;
    }
  }
  // `n` tasks on that CPU, the first of them running; the last one.
  Task& queue(size_t cpu, int n, std::string_view allowed = "") {
    Task* last = nullptr;
    for (int i = 0; i < n; ++i) {
      Task& p = *(last = &task(cpu, 1024));
      p.se.load = nice_weight(0);
      p.se.avg.util_avg = p.se.avg.runnable_avg = 500;
      allow(p, allowed);
      fair.enqueue(rq(cpu), p, {.initial = true}, kStart);
      if (!rq(cpu).curr.valid()) {
        rq(cpu).curr = p.id;
        fair.set_next(rq(cpu), p, kStart, true);
      }
    }
    return *last;
  }
  const BalancePass& newidle(size_t cpu, SimTime now = kStart) {
    return balancer.newidle(CpuId::of(cpu), {CpuId::of(cpu), now});
  }
  // The periodic pass of an idle CPU, due now.
  const BalancePass& periodic(size_t cpu, SimTime now = kStart) {
    for (SchedDomain& d : s.domains.of[CpuId::of(cpu)]) d.last_balance = 0;
    return balancer.periodic(CpuId::of(cpu), IdleType::idle, {CpuId::of(cpu), now});
  }
  SchedDomain& domain(size_t cpu, size_t level = 0) { return s.domains.of[CpuId::of(cpu)][level]; }

  const KernelConfig config;
  FairClass fair;
  Balancer balancer;
};

// --- Newidle -----------------------------------------------------------------------------------

TEST(Newidle, PullsFromTheCpuWithAQueue) {
  BalanceLab lab(kTwo);
  const Task& waits = lab.queue(0, 2);
  const BalancePass& pass = lab.newidle(1);
  ASSERT_EQ(pass.moved.size(), 1U);
  EXPECT_EQ(pass.moved[0].task, waits.id);
  EXPECT_EQ(waits.cpu, CpuId(1));
  EXPECT_EQ(lab.rq(1).nr_running, 1U);
  EXPECT_EQ(lab.rq(1).idle_stamp_ns, 0);  // it does not go idle
}

TEST(Newidle, TakesOneTaskHoweverManyWait) {
  for (const char* arm : {"6.18", "6.18,preempt=none", "6.18,preempt=full"}) {
    BalanceLab lab(kTwo, arm);
    lab.queue(0, 9);
    EXPECT_EQ(lab.newidle(1).moved.size(), 1U) << arm;
  }
  BalanceLab idle(kTwo);
  idle.queue(0, 9);
  EXPECT_EQ(idle.periodic(1).moved.size(), 4U);
}

TEST(Newidle, WithoutOverloadOrTimeItDoesNotLook) {
  BalanceLab calm(kTwo);
  calm.queue(0, 1);
  EXPECT_EQ(calm.newidle(1).domains, 0U);
  EXPECT_EQ(calm.rq(1).idle_stamp_ns, clock_ns(kStart));
  BalanceLab hurried(kTwo);
  hurried.queue(0, 2);
  hurried.domain(1).max_newidle_cost = hurried.rq(1).avg_idle + 1_ns;
  EXPECT_EQ(hurried.newidle(1).domains, 0U);
  hurried.rq(1).ttwu_pending = true;
  hurried.rq(1).idle_stamp_ns = 7;
  hurried.newidle(1);
  EXPECT_EQ(hurried.rq(1).idle_stamp_ns, 7);
}

TEST(Newidle, HigherLevelsNeedTimeForAllOfThem) {
  BalanceLab lab(kTwoLlcs);
  lab.queue(2, 2);
  lab.domain(0, 1).max_newidle_cost = lab.rq(0).avg_idle;
  const BalancePass& tight = lab.newidle(0);  // the first level has its cost, too
  EXPECT_EQ(tight.domains, 1U);
  lab.domain(0, 1).max_newidle_cost = 500_us;
  const BalancePass& enough = lab.newidle(0);
  EXPECT_EQ(enough.domains, 2U);
  EXPECT_EQ(enough.moved.size(), 1U);
}

// A CPU that was busy has its next balance far away.
TEST(Newidle, BringsTheNextBalanceForward) {
  BalanceLab skipped(kTwo);
  skipped.newidle(0);
  EXPECT_EQ(skipped.rq(0).next_balance, kJiffy + 1);  // 2 ms at HZ 250
  BalanceLab looked(kTwoLlcs);
  looked.queue(2, 2);
  looked.domain(0, 0).balance_interval_ms = 100;
  looked.domain(0, 1).balance_interval_ms = 80;
  looked.newidle(0);
  EXPECT_EQ(looked.rq(0).next_balance, kJiffy + 20);
  looked.rq(0).next_balance = kJiffy + 3;
  looked.newidle(0);
  EXPECT_EQ(looked.rq(0).next_balance, kJiffy + 3);
}

// BUGS.md 16.
TEST(Newidle, BumpRaisesTheEstimateOfPassesInVain) {
  BalanceLab lab(kTwo, "6.18");
  lab.queue(0, 1);
  lab.s.overload = true;
  const auto cost_after = [&](int passes) {
    for (int i = 0; i < passes; ++i) {
      lab.s.overload = true;
      lab.newidle(1);
    }
    return lab.domain(1).max_newidle_cost;
  };
  EXPECT_EQ(cost_after(3), Duration{});  // from 0 it never grows
  lab.domain(1).max_newidle_cost = 10_us;
  EXPECT_EQ(cost_after(5), 75'937_ns);
  lab.domain(1).max_newidle_cost = 400_us;
  EXPECT_EQ(cost_after(1), 500'200_ns);  // migration_cost and a little
  BalanceLab plain(kTwo, "6.12");
  plain.queue(0, 1);
  plain.s.overload = true;
  plain.newidle(1);
  EXPECT_EQ(plain.domain(1).max_newidle_cost,
            plain.spec.costs.balance_ns + plain.spec.costs.balance_cpu_ns * 2);
}

TEST(Newidle, RandomPassesAdaptToTheirSuccess) {
  BalanceLab lab(kTwo, "6.18,NI_RANDOM,NO_NEWIDLE_BUMP");
  lab.queue(0, 1);
  int passes = 0;
  const auto run = [&](int calls) {
    passes = 0;
    for (int i = 0; i < calls; ++i) {
      lab.s.overload = true;
      passes += lab.newidle(1).domains != 0;
    }
    return passes;
  };
  EXPECT_NEAR(run(1024), 514, 60);  // (512 + 2) / 1024
  EXPECT_EQ(lab.domain(1).newidle_ratio, 0U);
  EXPECT_EQ(lab.domain(1).newidle_calls, 512U);
  EXPECT_LT(run(10'000), 50);  // 2 / 1024
}

// --- Periodic ----------------------------------------------------------------------------------

TEST(Periodic, IntervalsAfterASuccessAFailureAndBalance) {
  BalanceLab lab(kTwo);
  SchedDomain& d = lab.domain(1);
  lab.queue(0, 1);
  lab.periodic(1);
  EXPECT_EQ(d.balance_interval_ms, 4U);
  lab.periodic(1);
  EXPECT_EQ(d.balance_interval_ms, 4U);    // the most
  lab.queue(0, 1).se.exec_start = kStart;  // cache hot
  lab.periodic(1);
  EXPECT_EQ(d.nr_balance_failed, 1U);
  EXPECT_EQ(d.balance_interval_ms, 2U);
  lab.periodic(1);
  EXPECT_EQ(lab.periodic(1).moved.size(), 1U);  // twice in vain is enough
  EXPECT_EQ(d.nr_balance_failed, 0U);
}

TEST(Periodic, PinnedTasksStretchTheInterval) {
  BalanceLab lab(kTwo);
  lab.queue(0, 3, "0");
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(lab.periodic(1).moved.empty());
  EXPECT_EQ(lab.domain(1).balance_interval_ms, 512U);
  EXPECT_EQ(lab.domain(1).nr_balance_failed, 0U);
}

TEST(Periodic, NewlyForkedTasksAreNotCacheHot) {
  BalanceLab lab(kTwo);
  lab.queue(0, 2);
  EXPECT_EQ(lab.periodic(1).moved.size(), 1U);
}

// The pass brings the source's running task up to date; what that shows must not be lost.
TEST(Periodic, ARequestThatIsUsedUpIsNoticed) {
  BalanceLab lab(kTwo);
  lab.queue(0, 3);
  const BalancePass& pass = lab.periodic(1, kStart + 3_ms);
  EXPECT_EQ(pass.moved.size(), 1U);
  EXPECT_EQ(pass.expired, std::vector{CpuId(0)});
  BalanceLab fresh(kTwo);
  fresh.queue(0, 3);
  EXPECT_TRUE(fresh.periodic(1, kStart + 1_ms).expired.empty());
}

TEST(Periodic, AffinityThatIsInTheWayIsSaidToTheLevelAbove) {
  BalanceLab lab(kTwoLlcs);
  lab.queue(0, 1, "0");
  for (int i = 0; i < 3; ++i) lab.queue(0, 1, "0,2-3");
  const auto& group = lab.domain(1, 1).groups[0];
  lab.periodic(1);
  EXPECT_TRUE(group->imbalanced);
  EXPECT_EQ(group, lab.domain(2, 1).groups[1]);  // the other cache sees it
  const BalancePass& pass = lab.periodic(2);
  EXPECT_EQ(pass.moved.size(), 1U);
}

// The CPU that stands for its group pulls for the others, too.
TEST(Periodic, APinnedTaskGoesToAnotherCpuOfTheGroup) {
  BalanceLab lab(kTwoLlcs);
  lab.queue(2, 4, "1-3");
  const BalancePass& pass = lab.periodic(0);
  ASSERT_FALSE(pass.moved.empty());
  for (const auto& m : pass.moved) EXPECT_EQ(lab.s.tasks[m.task].cpu, CpuId(1));
  EXPECT_EQ(lab.rq(0).nr_running, 0U);
  BalanceLab hurried(kTwoLlcs);
  hurried.queue(2, 4, "1-3");
  EXPECT_TRUE(hurried.newidle(0).moved.empty());
}

// What another CPU stands for counts as balanced.
TEST(Periodic, WhoDoesNotStandForTheGroupWaitsLonger) {
  BalanceLab lab(kTwoLlcs);
  SchedDomain& d = lab.domain(1, 1);
  d.nr_balance_failed = 3;
  d.groups.front()->imbalanced = true;
  lab.periodic(1);
  EXPECT_EQ(d.balance_interval_ms, 8U);
  EXPECT_EQ(d.nr_balance_failed, 0U);
}

TEST(Periodic, DelayedSleepersMoveAsLoadOnly) {
  for (const auto& [arm, moved] : {std::pair{"6.12", 1U}, std::pair{"6.14", 0U}}) {
    BalanceLab lab(kTwo, arm);
    Task& sleeper = lab.queue(0, 3);
    for (Task& p : lab.s.tasks) {
      if (p.on_rq) lab.allow(p, "0");
    }
    lab.allow(sleeper, "");
    sleeper.se.delayed = true;
    ++lab.rq(0).cfs.nr_delayed;
    EXPECT_EQ(lab.periodic(1).moved.size(), moved) << arm;
  }
}

TEST(Periodic, SetsHowFarAWakeupSearches) {
  BalanceLab lab(kTwoLlcs);
  lab.llc(0).nr_idle_scan = 99;
  lab.rq(0).cfs.avg.util_avg = 1024;
  lab.s.overload = true;
  lab.newidle(1);
  EXPECT_EQ(lab.llc(0).nr_idle_scan, 99);
  lab.periodic(1);
  EXPECT_EQ(lab.llc(0).nr_idle_scan, nr_idle_scan(1024, 2, 117));
  EXPECT_EQ(lab.llc(2).nr_idle_scan, 2);  // another cache's
}

// Tasks that wait raise runnable_avg; only the choice of a queue counts that as utilisation.
TEST(Periodic, UtilisationIsThatOfRunningTasks) {
  BalanceLab lab(kTwo);
  lab.rq(0).cfs.avg.util_avg = 300;
  lab.rq(0).cfs.avg.runnable_avg = 900;
  lab.rq(0).cfs.util_est = 400;
  GroupStats g = stats_of(*lab.domain(0).groups[0]);
  add_cpu(g, lab.s, CpuId(0), nullptr);
  EXPECT_EQ(g.util, 400U);
  EXPECT_EQ(g.runnable, 900U);
  EXPECT_EQ(cpu_util(lab.s, CpuId(0), nullptr, true), 900U);
  lab.rq(0).cfs.util_est = 5000;
  EXPECT_EQ(cpu_util(lab.s, CpuId(0), nullptr, false), 1024U);
}

TEST(Periodic, OneCpuStandsForItsGroup) {
  BalanceLab lab("pack:1 l3:2 core:2 pu:2");  // 0-1,4-5 and 2-3,6-7; cores 0,4 and 1,5
  // Two CPUs of the core, four of the cache, and eight if it also stands for the cache.
  const auto balances = [&](size_t cpu) { return lab.periodic(cpu).cpus == 2 + 4 + 8; };
  EXPECT_TRUE(balances(0));  // the first CPU of an idle core
  EXPECT_FALSE(balances(1));
  lab.queue(0, 1);
  EXPECT_FALSE(balances(4));  // its core is half busy
  EXPECT_TRUE(balances(1));
  lab.queue(1, 1);
  EXPECT_TRUE(balances(4));  // no idle core: the first idle thread
  EXPECT_FALSE(balances(5));
}

TEST(Periodic, CostEstimatesShrinkOnceASecond) {
  BalanceLab lab(kTwo);
  lab.domain(1).max_newidle_cost = 2_ms;
  lab.periodic(1);
  EXPECT_EQ(lab.domain(1).max_newidle_cost, 2_ms * 253 / 256);
  EXPECT_EQ(lab.rq(1).max_idle_balance_cost, lab.domain(1).max_newidle_cost);
  lab.periodic(1, kStart + 1_s);
  EXPECT_EQ(lab.domain(1).max_newidle_cost, 2_ms * 253 / 256);
  lab.periodic(1, kStart + 1_s + 4_ms);
  EXPECT_EQ(lab.domain(1).max_newidle_cost, 2_ms * 253 / 256 * 253 / 256);
}

}  // namespace
}  // namespace runqlab::sched
