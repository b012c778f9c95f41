// Busiest group and imbalance (FAIR.md E.3, E.4).
#include <algorithm>

#include "sched/balancer.h"

namespace runqlab::sched {
namespace {

uint64_t sub(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

void set_avg_load(GroupStats& g) { g.avg_load = g.load * 1024 / g.capacity; }

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
  const SchedDomain& d = a.domain;
  uint64_t total_util = 0;
  bool overload = false;
  for (const auto& g : d.groups) {
    const bool local = g->span.test(a.dst);
    GroupStats stats;
    for (const CpuId c : g->span) {
      if (!a.cpus.test(c)) continue;
      add_cpu(stats, s_, c, nullptr);
      ++pass_.cpus;
      if (s_.rqs[c].nr_running > 1) overload = true;
    }
    b.total_load += stats.load;
    b.total_capacity += stats.capacity;
    total_util += stats.util;
    if (stats.weight == 0) continue;
    stats.type = classify(stats, d.imbalance_pct, !local && g->imbalanced);
    if (stats.type == GroupType::overloaded) set_avg_load(stats);
    if (local) {
      b.local = stats;
    } else if (busier(stats, b.stats, b.group != nullptr)) {
      b.group = g.get();
      b.stats = stats;
    }
  }
  const auto& ladder = s_.domains.of[a.dst];
  if (d.weight == ladder.back().weight) s_.overload = overload;
  // How far a wakeup may search this cache (SIS_UTIL, D.7): only the periodic pass keeps it.
  LlcShared& llc = s_.llc_of(a.dst);
  if (a.idle != IdleType::newly_idle && d.flags.share_llc && d.weight == llc.size) {
    const uint64_t x = total_util / llc.size;
    const uint64_t pct = d.imbalance_pct;
    const uint64_t z = std::min<uint64_t>(1024, x * x * pct * pct / (10000 * 1024));
    llc.nr_idle_scan = static_cast<int64_t>((1024 - z) * llc.size / 1024);
  }
  return b;
}

int64_t Balancer::sibling_imbalance(const Attempt& a, const Busiest& b) const {
  if (a.idle == IdleType::not_idle || b.stats.h_nr == 0) return 0;
  const SchedGroup& local = *a.domain.groups.front();
  const int64_t cl = local.cores, cb = b.group->cores;
  const int64_t bn = b.stats.nr_running, ln = b.local.nr_running;
  if (cl == cb) return bn - ln;
  int64_t x = std::max<int64_t>(0, cl * bn - cb * ln);
  x = (2 * x + cl + cb) / (cl + cb);
  if (x <= 1 && ln == 0 && bn > 1) x = 2;
  return x;
}

const SchedGroup* Balancer::find_busiest_group(Attempt& a) {
  Busiest b = collect(a);
  if (b.group == nullptr) return nullptr;
  const GroupStats& busiest = b.stats;
  GroupStats& local = b.local;
  const auto take = [&]() -> const SchedGroup* {
    set_imbalance(a, b);
    return a.imbalance > 0 ? b.group : nullptr;
  };
  if (busiest.type == GroupType::imbalanced) return take();
  if (local.type > busiest.type) return nullptr;
  if (local.type == GroupType::overloaded) {
    if (local.avg_load >= busiest.avg_load) return nullptr;
    const uint64_t domain_avg = b.total_load * 1024 / b.total_capacity;
    if (local.avg_load >= domain_avg) return nullptr;
    if (100 * busiest.avg_load <= a.domain.imbalance_pct * local.avg_load) return nullptr;
  }
  if (b.group->prefer_sibling && local.type == GroupType::has_spare &&
      sibling_imbalance(a, b) > 1) {
    return take();
  }
  if (busiest.type != GroupType::overloaded) {
    if (a.idle == IdleType::not_idle) return nullptr;
    if (b.group->weight > 1 && local.idle_cpus <= busiest.idle_cpus + 1) return nullptr;
    if (busiest.h_nr == 1) return nullptr;
  }
  return take();
}

void Balancer::set_imbalance(Attempt& a, Busiest& b) const {
  const GroupStats& busiest = b.stats;
  GroupStats& local = b.local;
  const DomainFlags& flags = a.domain.flags;
  a.mode = Mode::task;
  if (busiest.type == GroupType::imbalanced) {
    a.imbalance = 1;
    return;
  }
  if (local.type == GroupType::has_spare) {
    if (busiest.type > GroupType::fully_busy && !flags.share_llc) {
      a.mode = Mode::util;
      a.imbalance = static_cast<int64_t>(std::max(local.capacity, local.util) - local.util);
      if (a.idle != IdleType::not_idle && a.imbalance == 0) {
        a.mode = Mode::task;
        a.imbalance = 1;
      }
      return;
    }
    if (b.group->weight == 1 || b.group->prefer_sibling) {
      a.imbalance = sibling_imbalance(a, b);
    } else {
      a.imbalance = std::max<int64_t>(
          0, static_cast<int64_t>(local.idle_cpus) - static_cast<int64_t>(busiest.idle_cpus));
    }
    if (flags.numa) {
      a.imbalance = adjust_numa_imbalance(a.imbalance, local.nr_running + 1, a.domain.imb_numa_nr);
    }
    a.imbalance >>= 1;
    return;
  }
  const uint64_t domain_avg = b.total_load * 1024 / b.total_capacity;
  GroupStats busy = busiest;
  if (busy.avg_load == 0) set_avg_load(busy);
  if (local.type < GroupType::overloaded) {
    set_avg_load(local);
    if (local.avg_load >= busy.avg_load || local.avg_load >= domain_avg) {
      a.imbalance = 0;
      return;
    }
  }
  a.mode = Mode::load;
  a.imbalance = static_cast<int64_t>(std::min(sub(busy.avg_load, domain_avg) * busy.capacity,
                                              sub(domain_avg, local.avg_load) * local.capacity) /
                                     1024);
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
    switch (a.mode) {
      case Mode::load: {
        const uint64_t load = s_.cpu_load(c);
        if (nr == 1 && load > static_cast<uint64_t>(a.imbalance) && rq.cpu_capacity == 1024) break;
        if (load * best_capacity > best_load * rq.cpu_capacity) {
          best_load = load;
          best_capacity = rq.cpu_capacity;
          best = c;
        }
        break;
      }
      case Mode::util: {
        if (nr <= 1) break;
        const uint64_t util = cpu_util(s_, c, nullptr, true);
        if (util > best_util) {
          best_util = util;
          best = c;
        }
        break;
      }
      case Mode::task:
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
