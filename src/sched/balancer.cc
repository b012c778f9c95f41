// One balance attempt: who balances, what may move, moving it (FAIR.md E.6).
#include "sched/balancer.h"

#include <algorithm>

namespace runqlab::sched {
namespace {

// What moving `p` takes off an imbalance.
int64_t amount_of(const Task& p, MigrationType type) {
  switch (type) {
    case MigrationType::load:
      return static_cast<int64_t>(std::max<uint64_t>(FairClass::task_h_load(p), 1));
    case MigrationType::util:
      return static_cast<int64_t>(std::max(p.se.avg.util_avg, p.util_est));
    case MigrationType::task:
      break;
  }
  return 1;
}

}  // namespace

// The first CPU of a fully idle core of the local group stands for it, else its first idle CPU,
// else the group's balance CPU.
bool Balancer::should_balance(const Attempt& a) const {
  const Rq& rq = s_.rqs[a.dst];
  if (a.idle == IdleType::newly_idle) return rq.nr_running == 0 && !rq.ttwu_pending;
  const SchedGroup& local = *a.domain.groups.front();
  const auto& topology = s_.topology();
  CpuId first_idle;
  for (const CpuId c : local.balance_mask) {
    if (!s_.rqs[c].is_idle()) continue;
    if (a.domain.flags.share_capacity) return c == a.dst;
    const CpuMask& core = topology.core_cpus(topology.cpu(c).core);
    const bool whole = std::all_of(core.begin(), core.end(),
                                   [&](CpuId sibling) { return s_.rqs[sibling].is_idle(); });
    if (whole) return c == a.dst;
    if (!first_idle.valid()) first_idle = c;
  }
  if (first_idle.valid()) return first_idle == a.dst;
  return local.balance_mask.first() == a.dst;
}

bool Balancer::may_migrate(Attempt& a, const Task& p, const Rq& src) const {
  if (p.percpu_kthread) return false;
  if (p.se.delayed && s_.feat.lb_delayed_as_load && a.imbalance.type != MigrationType::load) {
    return false;
  }
  if (!p.allowed.test(a.dst)) {
    a.some_pinned = true;
    note_other_dst(a, p);
    return false;
  }
  a.all_pinned = false;
  if (src.curr == p.id) return false;
  if (a.domain.nr_balance_failed > a.domain.cache_nice_tries) return true;
  // Cache hot: it ran here a moment ago, and its cache is not the destination's too.
  if (p.has_idle_policy() || a.domain.flags.share_capacity) return true;
  if (p.se.exec_start == SimTime{}) return true;  // it has not run here yet
  return a.now - p.se.exec_start >= s_.tun.migration_cost_ns;
}

// A task that may not run on `dst` may be allowed on another CPU of its group.
void Balancer::note_other_dst(Attempt& a, const Task& p) const {
  if (a.idle == IdleType::newly_idle || a.other_dst.valid()) return;
  for (const CpuId c : a.domain.groups.front()->balance_mask) {
    if (!a.cpus.test(c) || !p.allowed.test(c)) continue;
    a.other_dst = c;
    return;
  }
}

uint32_t Balancer::move_tasks(Attempt& a, CpuId src_cpu) {
  Rq& src = s_.rqs[src_cpu];
  Rq& dst = s_.rqs[a.dst];
  int64_t& imbalance = a.imbalance.amount;
  const uint32_t failed = std::min<uint32_t>(a.domain.nr_balance_failed, 63);
  uint32_t moved = 0;
  int64_t looks = std::min<int64_t>(s_.tun.nr_migrate, src.nr_running);
  for (TaskId id = src.fair_tail; id.valid() && looks > 0 && imbalance > 0; --looks) {
    if (a.idle != IdleType::not_idle && src.nr_running <= 1) break;
    Task& p = s_.tasks[id];
    id = p.list_prev;
    ++pass_.cpus;
    const int64_t amount = amount_of(p, a.imbalance.type);
    if (!may_migrate(a, p, src) || amount >> failed > imbalance) {
      fair_.move_to_head(src, p);
      continue;
    }
    imbalance -= amount;
    if (fair_.dequeue(src, p, {.migrating = true}, a.now).resched) pass_.expired.push_back(src_cpu);
    p.cpu = a.dst;
    if (fair_.enqueue(dst, p, {.migrated = true}, a.now)) pass_.expired.push_back(a.dst);
    pass_.moved.push_back({p.id, src_cpu});
    ++moved;
    // A kernel built for preemption takes one task when it is about to idle, to keep that path
    // short. Those that choose the model when they boot are built so, whatever they choose: all of
    // the 503 such pulls in the recordings of a host with preempt=none moved one task.
    if (a.idle == IdleType::newly_idle) break;
  }
  return moved;
}

// What came of an attempt decides when the next one is due (E.2).
bool Balancer::balance_domain(SchedDomain& d, CpuId cpu, IdleType idle, SimTime now,
                              uint32_t& pulled) {
  pulled = 0;
  ++pass_.domains;
  cpus_ = d.span;
  Attempt a{.domain = d, .dst = cpu, .idle = idle, .now = now, .cpus = cpus_};
  const bool stands_for_group = should_balance(a);
  if (stands_for_group && pull_from_busiest(a, cpu, pulled)) {
    if (pulled != 0) {
      d.nr_balance_failed = 0;
    } else if (idle != IdleType::newly_idle) {
      ++d.nr_balance_failed;
    }
    d.balance_interval_ms = d.min_interval_ms;
    return true;
  }
  // Balanced as far as affinity allows, or another CPU's business.
  if (!a.all_pinned) mark_imbalanced(cpu, d, false);
  d.nr_balance_failed = 0;
  constexpr uint32_t kMaxPinnedIntervalMs = 512;
  if (idle != IdleType::newly_idle &&
      (d.balance_interval_ms < d.max_interval_ms ||
       (a.all_pinned && d.balance_interval_ms < kMaxPinnedIntervalMs))) {
    d.balance_interval_ms *= 2;
  }
  return stands_for_group;
}

// True: there was a queue with something to take.
bool Balancer::pull_from_busiest(Attempt& a, CpuId cpu, uint32_t& pulled) {
  const SchedDomain& d = a.domain;
  for (;;) {
    const SchedGroup* group = find_busiest_group(a);
    if (group == nullptr) return false;
    const CpuId src = find_busiest_queue(a, *group);
    if (!src.valid()) return false;
    if (s_.rqs[src].nr_running <= 1) return true;
    a.all_pinned = true;
    pulled += move_tasks(a, src);
    while (a.other_dst.valid() && a.imbalance.amount > 0) {
      a.cpus.clear(a.dst);
      a.dst = a.other_dst;
      a.other_dst = CpuId::none();
      pulled += move_tasks(a, src);
    }
    if (a.some_pinned && a.imbalance.amount > 0) mark_imbalanced(cpu, d, true);
    if (!a.all_pinned) return true;
    // Everything there is pinned: leave that CPU out and look again.
    a.cpus.clear(src);
    CpuMask rest = a.cpus;
    for (const CpuId c : d.groups.front()->span) rest.clear(c);
    if (rest.empty()) return false;
  }
}

// The level above then moves a task out of or into this domain, whatever its averages say.
void Balancer::mark_imbalanced(CpuId cpu, const SchedDomain& d, bool on) {
  const auto& ladder = s_.domains.of[cpu];
  const auto level = static_cast<size_t>(&d - ladder.data());
  if (level + 1 < ladder.size()) ladder[level + 1].groups.front()->imbalanced = on;
}

}  // namespace runqlab::sched
