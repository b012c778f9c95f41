// Busiest group and imbalance (FAIR.md E.3, E.4).
#include "sched/balancer.h"

namespace runqlab::sched {
namespace {

// Whether `g` is busier than the busiest so far.
bool busier(const GroupStats& g, const GroupStats& best, bool have_best) {
  if (g.h_nr == 0) return false;
  if (!have_best) return true;
  if (g.type != best.type) return g.type > best.type;
  switch (g.type) {
    case GroupType::overloaded:
    case GroupType::fully_busy:
      return g.avg_load > best.avg_load;
    case GroupType::imbalanced:
      return false;
    case GroupType::has_spare:
      if (g.idle_cpus != best.idle_cpus) return g.idle_cpus < best.idle_cpus;
      return g.nr_running > best.nr_running;
  }
  return false;
}

}  // namespace

Balancer::Busiest Balancer::collect(const Attempt& a) {
  Busiest b;
  DomainStats& all = b.stats;
  const SchedDomain& d = a.domain;
  uint64_t total_util = 0;
  bool overload = false;
  all.dst_idle = a.idle != IdleType::not_idle;
  for (const auto& g : d.groups) {
    GroupStats stats = stats_of(*g);
    for (const CpuId c : g->span) {
      if (!a.cpus.test(c)) continue;
      add_cpu(stats, s_, c, nullptr);
      ++pass_.cpus;
      if (s_.rqs[c].nr_running > 1) overload = true;
    }
    all.total_load += stats.load;
    all.total_capacity += stats.capacity;
    total_util += stats.util;
    stats.type = classify(stats, d.imbalance_pct, g->imbalanced);
    if (stats.type == GroupType::overloaded) stats.set_avg_load();
    if (g->span.test(a.dst)) {
      all.local = stats;
    } else if (busier(stats, all.busiest, b.group != nullptr)) {
      b.group = g.get();
      all.busiest = stats;
      all.prefer_sibling = g->prefer_sibling;
    }
  }
  const auto& ladder = s_.domains.of[a.dst];
  if (d.weight == ladder.back().weight) s_.overload = overload;
  // How far a wakeup may search this cache: only the periodic pass keeps it.
  LlcShared& llc = s_.llc_of(a.dst);
  if (a.idle != IdleType::newly_idle && d.flags.share_llc && d.weight == llc.size) {
    llc.nr_idle_scan = nr_idle_scan(total_util, llc.size, d.imbalance_pct);
  }
  return b;
}

const SchedGroup* Balancer::find_busiest_group(Attempt& a) {
  const Busiest b = collect(a);
  if (b.group == nullptr) return nullptr;
  const GroupStats& busiest = b.stats.busiest;
  const GroupStats& local = b.stats.local;
  const auto take = [&]() -> const SchedGroup* {
    a.imbalance = calculate_imbalance(b.stats, a.domain.flags, a.domain.imb_numa_nr);
    return a.imbalance.amount > 0 ? b.group : nullptr;
  };
  if (busiest.type == GroupType::imbalanced) return take();
  if (local.type > busiest.type) return nullptr;
  if (local.type == GroupType::overloaded) {
    if (local.avg_load >= busiest.avg_load) return nullptr;
    if (local.avg_load >= b.stats.avg_load()) return nullptr;
    if (100 * busiest.avg_load <= a.domain.imbalance_pct * local.avg_load) return nullptr;
  }
  if (b.stats.prefer_sibling && local.type == GroupType::has_spare &&
      sibling_imbalance(b.stats) > 1) {
    return take();
  }
  if (busiest.type != GroupType::overloaded) {
    if (!b.stats.dst_idle) return nullptr;
    if (busiest.weight > 1 && local.idle_cpus <= busiest.idle_cpus + 1) return nullptr;
    if (busiest.h_nr == 1) return nullptr;
  }
  return take();
}

CpuId Balancer::find_busiest_queue(const Attempt& a, const SchedGroup& group) const {
  CpuId best;
  uint64_t best_load = 0, best_capacity = 1, best_util = 0;
  uint32_t best_nr = 0;
  for (const CpuId c : group.span) {
    if (!a.cpus.test(c)) continue;
    const Rq& rq = s_.rqs[c];
    const uint32_t nr = rq.cfs.nr_runnable();
    if (nr == 0) continue;
    switch (a.imbalance.type) {
      case MigrationType::load: {
        const uint64_t load = s_.cpu_load(c);
        if (nr == 1 && load > static_cast<uint64_t>(a.imbalance.amount) && rq.cpu_capacity == 1024)
          break;
        if (load * best_capacity > best_load * rq.cpu_capacity) {
          best_load = load;
          best_capacity = rq.cpu_capacity;
          best = c;
        }
        break;
      }
      case MigrationType::util: {
        if (nr <= 1) break;
        const uint64_t util = cpu_util(s_, c, nullptr, true);
        if (util > best_util) {
          best_util = util;
          best = c;
        }
        break;
      }
      case MigrationType::task:
        if (nr > best_nr) {
          best_nr = nr;
          best = c;
        }
        break;
    }
  }
  return best;
}

}  // namespace runqlab::sched
