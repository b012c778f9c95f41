// The slow path of fork and exec: idlest group, then idlest CPU (FAIR.md D.9).
#include <algorithm>
#include <cstdlib>

#include "sched/group_stats.h"
#include "sched/placer.h"

namespace runqlab::sched {
namespace {

bool allows_none(const Task& p, const SchedGroup& g) { return !p.allowed.intersects(g.span); }

}  // namespace

Placement Placer::slow_path(const Task& p, Here here, bool fork) const {
  Placement out;
  out.rule = PlacementRule::slow_path_stay;
  CpuId cpu = here.cpu;
  CpuId answer = here.cpu;
  const auto usable = [&](const SchedDomain& d) {
    return fork ? d.flags.balance_fork : d.flags.balance_exec;
  };
  const auto largest_below = [&](CpuId c, uint32_t weight) {
    int found = -1;
    const auto& ladder = s_.domains.of[c];
    for (size_t i = 0; i < ladder.size() && ladder[i].weight < weight; ++i) {
      if (usable(ladder[i])) found = static_cast<int>(i);
    }
    return found;
  };
  int level = largest_below(cpu, UINT32_MAX);
  while (level >= 0) {
    const SchedDomain& d = s_.domains.of[cpu][static_cast<size_t>(level)];
    if (!usable(d)) {
      --level;
      continue;
    }
    const SchedGroup* group = idlest_group(d, p, cpu);
    if (group == nullptr) {
      --level;
      continue;
    }
    const CpuId best = idlest_cpu(*group, p, cpu, here.now);
    if (best == cpu) {
      --level;
      continue;
    }
    cpu = answer = best;
    out.rule = PlacementRule::slow_path;
    level = largest_below(cpu, d.weight);
  }
  out.cpu = answer;
  return out;
}

const SchedGroup* Placer::idlest_group(const SchedDomain& d, const Task& p, CpuId here) const {
  const SchedGroup* best = nullptr;
  GroupStats best_stats, local_stats;
  bool have_local = false;
  for (const auto& g : d.groups) {
    if (allows_none(p, *g)) continue;
    GroupStats stats = stats_of(*g);
    for (const CpuId c : g->span) {
      if (s_.feat.slowpath_allowed_only && !p.allowed.test(c)) continue;
      add_cpu(stats, s_, c, &p);
    }
    stats.type = classify(stats, d.imbalance_pct, g->imbalanced);
    if (stats.type == GroupType::fully_busy || stats.type == GroupType::overloaded) {
      stats.set_avg_load();
    }
    if (g->span.test(here)) {
      local_stats = stats;
      have_local = true;
      continue;
    }
    const auto better = [&] {
      if (best == nullptr) return true;
      if (stats.type != best_stats.type) return stats.type < best_stats.type;
      if (stats.type == GroupType::imbalanced) return false;
      if (stats.type == GroupType::has_spare) {
        if (stats.idle_cpus != best_stats.idle_cpus) {
          return stats.idle_cpus > best_stats.idle_cpus;
        }
        return stats.util < best_stats.util;
      }
      return stats.avg_load < best_stats.avg_load;
    };
    if (better()) {
      best = g.get();
      best_stats = stats;
    }
  }
  if (best == nullptr) return nullptr;
  if (!have_local) return best;
  if (local_stats.type < best_stats.type) return nullptr;
  if (local_stats.type > best_stats.type) return best;
  if (local_stats.type == GroupType::imbalanced) return nullptr;
  if (local_stats.type != GroupType::has_spare) {
    const uint64_t imb = 1024ULL * (d.imbalance_pct - 100) / 100;
    if (d.flags.numa && best_stats.avg_load + imb >= local_stats.avg_load) return nullptr;
    if (best_stats.avg_load >= local_stats.avg_load + imb) return nullptr;
    if (100 * local_stats.avg_load <= d.imbalance_pct * best_stats.avg_load) return nullptr;
    return best;
  }
  if (d.flags.numa) {
    uint32_t tolerated = d.imb_numa_nr;
    if (p.nr_allowed != s_.rqs.size()) {
      CpuMask mine = d.groups.front()->span;
      mine &= p.allowed;
      tolerated = std::min(tolerated, static_cast<uint32_t>(mine.count()));
    }
    const int64_t difference = std::abs(static_cast<int64_t>(local_stats.idle_cpus) -
                                        static_cast<int64_t>(best_stats.idle_cpus));
    if (adjust_numa_imbalance(difference, local_stats.nr_running + 1, tolerated) == 0) {
      return nullptr;
    }
  }
  return local_stats.idle_cpus >= best_stats.idle_cpus ? nullptr : best;
}

CpuId Placer::idlest_cpu(const SchedGroup& g, const Task& p, CpuId here, SimTime now) const {
  if (g.weight == 1) return g.span.first();
  CpuId idle, busy = here;
  int64_t latest = 0;
  uint64_t smallest = UINT64_MAX;
  for (const CpuId c : g.span) {
    if (!p.allowed.test(c)) continue;
    if (s_.only_idle_policy(c)) return c;
    const Rq& rq = s_.rqs[c];
    if (s_.available_idle(c, now)) {
      // One idle state: the exit latencies are equal, so the CPU that went idle last wins.
      if (rq.idle_stamp_ns > latest) {
        latest = rq.idle_stamp_ns;
        idle = c;
      }
    } else if (!idle.valid() && s_.cpu_load(c) < smallest) {
      smallest = s_.cpu_load(c);
      busy = c;
    }
  }
  return idle.valid() ? idle : busy;
}

}  // namespace runqlab::sched
