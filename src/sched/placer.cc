#include "sched/placer.h"

#include "sched/fair.h"

namespace runqlab::sched {
namespace {

using namespace literals;

WakeeTracker& current_tracker(KernelState& s, CpuId c) {
  Rq& rq = s.rqs[c];
  return rq.curr.valid() ? s.tasks[rq.curr].wakees : rq.idle_wakees;
}

// An answer outside the mask is replaced: same node first, then any allowed CPU, lowest first.
CpuId fallback(const KernelState& s, const Task& p) {
  const auto& topology = s.topology();
  for (const CpuId c : topology.node_cpus(topology.cpu(p.cpu).node)) {
    if (p.allowed.test(c)) return c;
  }
  return p.allowed.first();
}

}  // namespace

AffineWeight compare_loads(const AffineLoads& l, uint32_t imbalance_pct, bool sync, bool bias) {
  int64_t this_load = l.this_load;
  if (sync) {
    // The current task is about to sleep.
    if (l.current_load > this_load) return {.rule = AffineRule::sync_load};
    this_load -= l.current_load;
  }
  const int64_t prev_bias = bias ? 100 + (static_cast<int64_t>(imbalance_pct) - 100) / 2 : 1;
  AffineWeight w{.rule = AffineRule::weight_prev,
                 .this_eff = (this_load + l.wakee_load) * (bias ? 100 : 1) * l.prev_capacity,
                 .prev_eff = (l.prev_load - l.wakee_load) * prev_bias * l.this_capacity};
  if (sync) ++w.prev_eff;
  if (w.this_eff < w.prev_eff) w.rule = AffineRule::weight_this;
  return w;
}

Placement Placer::select(Task& p, Here here, uint8_t flags, WakeContext context) {
  Placement out;
  if (p.nr_allowed > 1 && p.sched_class == SchedClass::fair) {
    out = select_fair(p, here, flags, context);
  } else if (p.nr_allowed > 1 && p.sched_class == SchedClass::rt) {
    out = select_rt(p);
  } else {
    out.cpu = p.allowed.first();
  }
  if (!p.allowed.test(out.cpu)) {
    out.cpu = fallback(s_, p);
    out.rule = PlacementRule::fallback;
  }
  return out;
}

void Placer::record_wakee(Here here, TaskId wakee) {
  WakeeTracker& t = current_tracker(s_, here.cpu);
  // Counted in jiffies; the first comparison spares the division nearly always.
  if (here.now > t.decayed_at + 1_s &&
      s_.machine.jiffies(here.now) > s_.machine.jiffies(t.decayed_at + 1_s)) {
    t.flips >>= 1;
    t.decayed_at = here.now;
  }
  if (t.last != wakee) {
    t.last = wakee;
    ++t.flips;
  }
}

Placement Placer::select_fair(Task& p, Here here, uint8_t flags, WakeContext context) {
  Placement out;
  const CpuId prev = p.cpu;
  const CpuId cpu = here.cpu;
  const Rq& rq = s_.rqs[cpu];
  const bool exiting = rq.curr.valid() && s_.tasks[rq.curr].exiting;
  const bool sync = (flags & wake_flags::kSync) != 0 && !exiting;
  const bool ttwu = (flags & wake_flags::kTtwu) != 0;
  bool want_affine = false;
  if (ttwu) {
    record_wakee(here, p.id);
    if ((flags & wake_flags::kCurrentCpu) != 0 && p.allowed.test(cpu)) {
      out.cpu = cpu;
      out.rule = PlacementRule::current_cpu;
      return out;
    }
    want_affine = p.allowed.test(cpu) &&
                  !wake_wide(current_tracker(s_, cpu).flips, p.wakees.flips, s_.llc_of(cpu).size);
  }
  const bool fork = (flags & wake_flags::kFork) != 0;
  CpuId target = prev;
  bool slow = false;
  for (const SchedDomain& d : s_.domains.of[cpu]) {
    if (want_affine && d.flags.wake_affine && d.span.test(prev)) {
      if (cpu != prev) target = wake_affine(d, p, here, sync, out);
      slow = false;
      break;
    }
    // No default domain balances on a wakeup: only fork and exec take the slow path.
    if (!ttwu && (fork ? d.flags.balance_fork : d.flags.balance_exec)) {
      slow = true;
    } else if (!want_affine) {
      break;
    }
  }
  if (slow) return slow_path(p, here, fork);
  if (!ttwu) {
    out.cpu = prev;
    out.rule = PlacementRule::slow_path_stay;
    return out;
  }
  out.cpu = select_idle_sibling(p, prev, target, here, context, out);
  if (out.rule == PlacementRule::none_idle && !compares_load(out.affine)) {
    out.left = static_cast<int32_t>(rq.nr_running);
    out.right = static_cast<int32_t>(s_.rqs[prev].nr_running);
  }
  return out;
}

CpuId Placer::wake_affine(const SchedDomain& domain, const Task& p, Here where, bool sync,
                          Placement& out) const {
  const CpuId here = where.cpu, prev = p.cpu;
  const auto decide = [&](CpuId c, AffineRule rule) {
    out.affine = rule;
    return c;
  };
  const Rq& rq = s_.rqs[here];
  if (s_.feat.wa_idle) {
    if (s_.available_idle(here, where.now) && s_.share_llc(here, prev)) {
      return s_.available_idle(prev, where.now) ? decide(prev, AffineRule::prev_idle)
                                                : decide(here, AffineRule::this_idle);
    }
    if (sync) {
      const uint32_t delayed = s_.feat.sync_ignores_delayed ? rq.cfs.nr_delayed : 0;
      if (rq.nr_running - delayed == 1) return decide(here, AffineRule::sync_alone);
    }
    if (s_.available_idle(prev, where.now)) return decide(prev, AffineRule::prev_idle);
  }
  if (!s_.feat.wa_weight) return prev;
  const Task* current = rq.curr.valid() ? &s_.tasks[rq.curr] : nullptr;
  const auto load_of = [](const Task& t) {
    return static_cast<int64_t>(FairClass::task_h_load(t));
  };
  const AffineWeight w = compare_loads(
      {.this_load = static_cast<int64_t>(s_.cpu_load(here)),
       .prev_load = static_cast<int64_t>(s_.cpu_load(prev)),
       .current_load =
           current != nullptr && current->sched_class == SchedClass::fair ? load_of(*current) : 0,
       .wakee_load = load_of(p),
       .this_capacity = static_cast<int64_t>(rq.cpu_capacity),
       .prev_capacity = static_cast<int64_t>(s_.rqs[prev].cpu_capacity)},
      domain.imbalance_pct, sync, s_.feat.wa_bias);
  // Kept in units of capacity, for the record.
  out.left = static_cast<int32_t>(w.this_eff >> 10);
  out.right = static_cast<int32_t>(w.prev_eff >> 10);
  return decide(w.rule == AffineRule::weight_prev ? prev : here, w.rule);
}

Placement Placer::select_rt(const Task& p) const {
  Placement out;
  out.cpu = p.cpu;
  out.rule = PlacementRule::rt_stay;
  const Rq& rq = s_.rqs[p.cpu];
  if (!rq.curr.valid()) return out;
  const Task& curr = s_.tasks[rq.curr];
  // Look elsewhere only when the CPU runs a real-time task that cannot be pushed away or is as
  // urgent.
  if (curr.sched_class == SchedClass::fair ||
      (curr.sched_class == SchedClass::rt && curr.nr_allowed > 1 &&
       curr.rt_priority < p.rt_priority)) {
    return out;
  }
  int best = -1;
  for (const CpuId c : p.allowed) {
    const Rq& other = s_.rqs[c];
    // Lower is better: idle, then fair, then less urgent real-time.
    int level = 0;
    if (other.stop.valid()) {
      level = 1000;
    } else if (other.rt.nr_running != 0) {
      const size_t word = other.rt.nonempty[0] != 0 ? 0 : 1;
      level = 200 - static_cast<int>(word * 64) - std::countr_zero(other.rt.nonempty[word]);
    } else if (other.nr_running != 0) {
      level = 1;
    }
    if (level >= 100 + p.rt_priority) continue;
    if (best < 0 || level < best) {
      best = level;
      out.cpu = c;
      out.rule = PlacementRule::rt_lowest;
    }
  }
  return out;
}

}  // namespace runqlab::sched
