// One balance attempt: who balances, what may move, moving it (FAIR.md E.6).
#include "sched/balancer.h"

#include <algorithm>

namespace runqlab::sched {

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
  if (!p.allowed.test(a.dst)) {
    a.some_pinned = true;
    return false;
  }
  a.all_pinned = false;
  if (src.curr == p.id) return false;
  if (a.domain.nr_balance_failed > a.domain.cache_nice_tries) return true;
  // Cache hot: it ran here a moment ago, and its cache is not the destination's too.
  if (p.has_idle_policy() || a.domain.flags.share_capacity) return true;
  const Duration cost = s_.tun.migration_cost_ns;
  return a.now - p.se.exec_start >= cost;
}

uint32_t Balancer::move_tasks(Attempt& a, CpuId src_cpu) {
  Rq& src = s_.rqs[src_cpu];
  Rq& dst = s_.rqs[a.dst];
  uint32_t moved = 0;
  fair_.update_curr(src, a.now);
  int64_t looks = std::min<int64_t>(s_.tun.nr_migrate, src.nr_running);
  for (TaskId id = src.fair_tail; id.valid() && looks > 0 && a.imbalance > 0; --looks) {
    if (a.idle != IdleType::not_idle && src.nr_running <= 1) break;
    Task& p = s_.tasks[id];
    id = p.list_prev;
    ++pass_.cpus;
    if (!may_migrate(a, p, src)) {
      fair_.move_to_head(src, p);
      continue;
    }
    switch (a.mode) {
      case Mode::load: {
        const auto load = static_cast<int64_t>(std::max<uint64_t>(FairClass::task_h_load(p), 1));
        if ((load >> std::min<uint32_t>(a.domain.nr_balance_failed, 63)) > a.imbalance) {
          fair_.move_to_head(src, p);
          continue;
        }
        a.imbalance -= load;
        break;
      }
      case Mode::util: {
        const auto util = static_cast<int64_t>(std::max(p.se.avg.util_avg, p.util_est));
        if ((util >> std::min<uint32_t>(a.domain.nr_balance_failed, 63)) > a.imbalance) {
          fair_.move_to_head(src, p);
          continue;
        }
        a.imbalance -= util;
        break;
      }
      case Mode::task:
        --a.imbalance;
        break;
    }
    fair_.dequeue(src, p, {.migrating = true}, a.now);
    p.cpu = a.dst;
    fair_.enqueue(dst, p, {.migrated = true}, a.now);
    pass_.moved.push_back({p.id, src_cpu});
    ++moved;
    // A preemptible kernel takes one task when it is about to idle, to keep that path short.
    if (a.idle == IdleType::newly_idle && s_.tun.preempt != Preempt::none &&
        s_.tun.preempt != Preempt::voluntary) {
      break;
    }
  }
  return moved;
}

bool Balancer::balance_domain(SchedDomain& d, CpuId dst, IdleType idle, SimTime now,
                              uint32_t& pulled) {
  pulled = 0;
  ++pass_.domains;
  Attempt a{.domain = d, .dst = dst, .idle = idle, .now = now, .cpus = d.span};
  if (!should_balance(a)) return false;
  bool found_queue = false;
  for (;;) {
    const SchedGroup* group = find_busiest_group(a);
    if (group == nullptr) break;
    const CpuId src = find_busiest_queue(a, *group);
    if (!src.valid()) break;
    found_queue = true;
    a.all_pinned = true;
    a.some_pinned = false;
    if (s_.rqs[src].nr_running > 1) pulled += move_tasks(a, src);
    if (pulled != 0) break;
    if (!a.all_pinned || s_.rqs[src].nr_running <= 1) break;
    // Everything there is pinned: leave that CPU out and look again.
    a.cpus.clear(src);
    CpuMask rest = a.cpus;
    for (const CpuId c : d.groups.front()->span) rest.clear(c);
    if (rest.empty()) break;
    found_queue = false;
  }
  if (pulled != 0) {
    d.nr_balance_failed = 0;
    d.balance_interval_ms = d.min_interval_ms;
    return true;
  }
  if (found_queue) {
    if (idle != IdleType::newly_idle) ++d.nr_balance_failed;
    d.balance_interval_ms = d.min_interval_ms;
    return true;
  }
  // Balanced.
  d.nr_balance_failed = 0;
  if (idle != IdleType::newly_idle) {
    d.balance_interval_ms = std::min(2 * d.balance_interval_ms, std::max(d.max_interval_ms, 1U));
  }
  return true;
}

}  // namespace runqlab::sched
