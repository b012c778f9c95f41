// Balancing as the core drives it: the softirq, the kick of an idle balancer, what a pass costs
// (FAIR.md E.2, E.7).
#include <algorithm>

#include "sched/kernel.h"

namespace runqlab::sched {

void Kernel::finish_pass(Here here, const BalancePass& pass) {
  const auto& costs = machine_.costs();
  machine_.charge(here.cpu, costs.balance_ns * pass.domains + costs.balance_cpu_ns * pass.cpus +
                                costs.migrate_ns * static_cast<int64_t>(pass.moved.size()));
  for (const CpuId c : pass.expired) resched(here, c, true);
  for (const auto& [task, from] : pass.moved) {
    Task& p = s_.tasks[task];
    emit(here, RecordKind::migrate, task, static_cast<uint8_t>(MigrateReason::balance),
         from.value(), p.cpu.value());
    // Without effect on a CPU that is picking: it clears need_resched afterwards.
    preempt_check(here, s_.rqs[p.cpu], p, false);
  }
}

void Kernel::kick_idle_balancer(Here here) {
  Rq& rq = s_.rqs[here.cpu];
  if (rq.idle_balance) return;
  nohz_idle_.clear(here.cpu);
  const int64_t jiffy = machine_.jiffies(here.now);
  if (jiffy < nohz_next_balance_ || nohz_idle_.empty()) return;
  // Worth a kick: somebody waits here, or several CPUs of the cache are busy, so that a level above
  // may want to spread.
  bool worth = rq.nr_running >= 2;
  if (!worth) {
    uint32_t busy = 0;
    const auto& topology = s_.topology();
    for (const CpuId c : topology.llc_cpus(topology.cpu(here.cpu).llc)) {
      busy += s_.rqs[c].tick_stopped ? 0 : 1;
    }
    worth = busy > 1;
  }
  if (!worth) return;
  nohz_next_balance_ = jiffy + 1;
  for (const CpuId c : nohz_idle_) {
    Rq& target = s_.rqs[c];
    if (c == here.cpu || !target.is_idle()) continue;
    if (target.nohz_kicked) return;
    target.nohz_kicked = true;
    if (machine_.polling(c)) {
      machine_.set_need_resched(c);
      machine_.end_idle(c, here.now);
    } else {
      machine_.send_ipi(here.cpu, c, IpiKind::call_function, here.now);
    }
    return;
  }
}

void Kernel::softirq_sched(Here here) {
  constexpr uint32_t kSchedVector = 7;
  emit(here, RecordKind::softirq, TaskId::none(), 0, kSchedVector);
  Rq& rq = s_.rqs[here.cpu];
  if (rq.nohz_kicked) {
    nohz_balance(here);
    return;
  }
  fair_.update_blocked(rq, here.now);
  finish_pass(here, balancer_.periodic(
                        here.cpu, rq.idle_balance ? IdleType::idle : IdleType::not_idle, here));
}

// One idle CPU balances for all of them, itself last.
void Kernel::nohz_balance(Here here) {
  s_.rqs[here.cpu].nohz_kicked = false;
  const size_t n = s_.rqs.size();
  const int64_t jiffy = machine_.jiffies(here.now);
  int64_t next = INT64_MAX;
  for (size_t i = 1; i <= n; ++i) {
    const CpuId c = CpuId::of((here.cpu.index() + i) % n);
    Rq& rq = s_.rqs[c];
    if (!nohz_idle_.test(c) || !rq.is_idle()) continue;
    fair_.update_blocked(rq, here.now);
    if (jiffy >= rq.next_balance) {
      finish_pass(here, balancer_.periodic(c, IdleType::idle, here));
    }
    next = std::min(next, rq.next_balance);
  }
  if (next != INT64_MAX) nohz_next_balance_ = std::max(nohz_next_balance_, next);
}

}  // namespace runqlab::sched
