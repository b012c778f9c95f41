// The search for an idle CPU (FAIR.md D.6, D.7).
#include "sched/group_stats.h"
#include "sched/placer.h"

namespace runqlab::sched {

CpuId Placer::select_idle_sibling(Task& p, CpuId prev, CpuId target, Here here, WakeContext context,
                                  Placement& out) {
  const auto& topology = s_.topology();
  const auto found = [&](CpuId c, PlacementRule rule) {
    out.rule = rule;
    return c;
  };
  const bool clusters = s_.feat.sis_cluster && topology.cpu(target).cluster.valid();
  const auto same_cluster = [&](CpuId c) {
    return !clusters || topology.cpu(c).cluster == topology.cpu(target).cluster;
  };
  if (s_.usable(target, here.now)) return found(target, PlacementRule::target_idle);

  CpuId prev_elsewhere, recent_elsewhere;  // idle, but in another cluster
  if (prev != target && s_.share_llc(prev, target) && s_.usable(prev, here.now)) {
    if (same_cluster(prev)) return found(prev, PlacementRule::prev_idle);
    prev_elsewhere = prev;
  }
  const Rq& here_rq = s_.rqs[here.cpu];
  if (here_rq.curr.valid() && s_.tasks[here_rq.curr].percpu_kthread &&
      context == WakeContext::task && prev == here.cpu && here_rq.nr_running <= 1) {
    return found(prev, PlacementRule::kthread_stack);
  }
  const CpuId recent = p.recent_used_cpu;
  p.recent_used_cpu = prev;
  if (recent.valid() && recent != prev && recent != target && s_.share_llc(recent, target) &&
      s_.usable(recent, here.now) && p.allowed.test(s_.feat.recent_used_mask ? recent : prev)) {
    if (same_cluster(recent)) return found(recent, PlacementRule::recent_used);
    recent_elsewhere = recent;
  }
  if (s_.domains.llc_level[target] < 0) return found(target, PlacementRule::none_idle);

  bool has_idle_core = false;
  if (topology.has_smt()) {
    has_idle_core = s_.llc_of(target).has_idle_cores;
    if (!has_idle_core && s_.share_llc(prev, target)) {
      for (const CpuId c : topology.core_cpus(topology.cpu(prev).core)) {
        if (c != prev && p.allowed.test(c) && s_.usable(c, here.now)) {
          return found(c, PlacementRule::smt_sibling);
        }
      }
    }
  }
  const CpuId idle = select_idle_cpu(p, target, has_idle_core, here, out);
  if (idle.valid()) return idle;
  if (prev_elsewhere.valid()) return found(prev_elsewhere, PlacementRule::cluster_fallback);
  if (recent_elsewhere.valid()) return found(recent_elsewhere, PlacementRule::cluster_fallback);
  return found(target, PlacementRule::none_idle);
}

// A guest's kernel that rather queues behind a CPU with room than wake another virtual one.
bool Placer::packs(CpuId target) const {
  const uint32_t below = s_.machine.spec().guest.pack_below;
  return below != 0 && cpu_util(s_, target, nullptr, false) < below;
}

int64_t Placer::scan_budget(CpuId target, bool has_idle_core, Here here) {
  const LlcShared& llc = s_.llc_of(target);
  if (s_.feat.sis_util) return llc.nr_idle_scan + 1;
  if (!s_.feat.sis_prop || has_idle_core) return INT64_MAX;
  Rq& rq = s_.rqs[here.cpu];
  rq.age_wake_avg_idle(s_.machine.jiffies(here.now));
  return sis_prop_budget(llc.size, rq.wake_avg_idle, s_.llc_domain(here.cpu).avg_scan_cost);
}

// A search that did not run out of budget counts for the next ones.
void Placer::charge_scan(CpuId here, int probes) {
  const Duration spent = s_.machine.costs().idle_probe_ns * probes;
  Rq& rq = s_.rqs[here];
  rq.wake_avg_idle -= std::min(rq.wake_avg_idle, spent);
  Duration& average = s_.llc_domain(here).avg_scan_cost;
  average = update_avg(average, spent);
}

CpuId Placer::select_idle_cpu(const Task& p, CpuId target, bool has_idle_core, Here here,
                              Placement& out) {
  if (packs(target) || s_.domains.llc_level[here.cpu] < 0) return CpuId::none();
  const auto& topology = s_.topology();
  const SimTime now = here.now;
  LlcShared& llc = s_.llc_of(target);
  int64_t budget = scan_budget(target, has_idle_core, here);
  if (budget == 1) return CpuId::none();
  const auto probes_before = static_cast<int>(out.probes);
  cpus_ = p.allowed;
  cpus_ &= topology.llc_cpus(topology.cpu(target).llc);
  CpuId thread;
  const auto scan = [&](CpuMask& span) {
    return has_idle_core ? scan_cores(span, target, now, thread, out)
                         : scan_cpus(span, target, now, budget, out);
  };
  if (s_.feat.sis_cluster && topology.cpu(target).cluster.valid()) {
    cluster_ = topology.cluster_cpus(topology.cpu(target).cluster);
    for (const CpuId c : cluster_) {
      if (cpus_.test(c)) {
        cpus_.clear(c);
      } else {
        cluster_.clear(c);
      }
    }
    if (const CpuId found = scan(cluster_); found.valid()) return found;
    if (budget <= 0) return CpuId::none();
  }
  const CpuId found = scan(cpus_);
  if (s_.feat.sis_prop && !has_idle_core && budget > 0) {
    charge_scan(here.cpu, static_cast<int>(out.probes) - probes_before);
  }
  if (found.valid()) return found;
  if (has_idle_core) llc.has_idle_cores = false;
  if (thread.valid()) out.rule = PlacementRule::idle_cpu;
  return thread;
}

CpuId Placer::scan_cpus(const CpuMask& span, CpuId from, SimTime now, int64_t& budget,
                        Placement& out) const {
  // From the CPU after `from`, with wrap; `from` itself is known to be busy and costs budget too.
  for (int round = 0; round < 2; ++round) {
    const size_t first = round == 0 ? from.index() + 1 : 0;
    for (CpuId c = span.next(first); c.valid(); c = span.next(c.index() + 1)) {
      if (round == 1 && c > from) break;
      if (--budget <= 0) return CpuId::none();
      ++out.probes;
      if (s_.usable(c, now)) {
        out.rule = PlacementRule::idle_cpu;
        return c;
      }
    }
  }
  return CpuId::none();
}

CpuId Placer::scan_cores(CpuMask& span, CpuId from, SimTime now, CpuId& thread,
                         Placement& out) const {
  const auto& topology = s_.topology();
  for (int round = 0; round < 2; ++round) {
    const size_t first = round == 0 ? from.index() + 1 : 0;
    for (CpuId c = span.next(first); c.valid(); c = span.next(c.index() + 1)) {
      if (round == 1 && c > from) break;
      const CpuMask& core = topology.core_cpus(topology.cpu(c).core);
      bool all_idle = true;
      for (const CpuId sibling : core) {
        ++out.probes;
        const bool idle = s_.available_idle(sibling, now);
        if (!idle) all_idle = false;
        if (thread.valid()) {
          if (!idle) break;
        } else if (span.test(sibling) && (idle || s_.only_idle_policy(sibling))) {
          thread = sibling;
          if (!idle) break;
        }
      }
      if (all_idle) {
        out.rule = PlacementRule::idle_core;
        return c;
      }
      for (const CpuId sibling : core) span.clear(sibling);
    }
  }
  return CpuId::none();
}

}  // namespace runqlab::sched
