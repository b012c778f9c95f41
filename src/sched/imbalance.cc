#include "sched/imbalance.h"

#include <algorithm>

namespace runqlab::sched {
namespace {

uint64_t sub(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

}  // namespace

GroupType classify(const GroupStats& g, uint32_t pct, bool imbalanced) {
  const bool runnable_fits = g.capacity * pct >= g.runnable * 100;
  const bool util_fits = g.capacity * 100 >= g.util * pct;
  if (g.nr_running > g.weight && (!util_fits || !runnable_fits)) return GroupType::overloaded;
  if (imbalanced) return GroupType::imbalanced;
  const bool has_capacity =
      g.nr_running < g.weight || (runnable_fits && g.capacity * 100 > g.util * pct);
  return has_capacity ? GroupType::has_spare : GroupType::fully_busy;
}

int64_t adjust_numa_imbalance(int64_t imbalance, int64_t dst_running, uint32_t imb_numa_nr) {
  if (dst_running > imb_numa_nr) return imbalance;
  constexpr int64_t kMinimum = 2;
  return imbalance <= kMinimum ? 0 : imbalance;
}

int64_t sibling_imbalance(const DomainStats& d) {
  if (!d.dst_idle || d.busiest.h_nr == 0) return 0;
  const int64_t cl = d.local.cores, cb = d.busiest.cores;
  const int64_t ln = d.local.nr_running, bn = d.busiest.nr_running;
  if (cl == cb) return std::max<int64_t>(0, bn - ln);
  int64_t x = std::max<int64_t>(0, cl * bn - cb * ln);
  x = (2 * x + cl + cb) / (cl + cb);
  if (x <= 1 && ln == 0 && bn > 1) x = 2;
  return x;
}

Imbalance calculate_imbalance(const DomainStats& d, const DomainFlags& flags,
                              uint32_t imb_numa_nr) {
  GroupStats local = d.local;
  const GroupStats& busiest = d.busiest;
  if (busiest.type == GroupType::imbalanced) return {MigrationType::task, 1};
  if (local.type == GroupType::has_spare) {
    if (busiest.type > GroupType::fully_busy && !flags.share_llc) {
      const auto spare = static_cast<int64_t>(sub(local.capacity, local.util));
      if (d.dst_idle && spare == 0) return {MigrationType::task, 1};
      return {MigrationType::util, spare};
    }
    int64_t tasks = busiest.weight == 1 || d.prefer_sibling
                        ? sibling_imbalance(d)
                        : std::max<int64_t>(0, static_cast<int64_t>(local.idle_cpus) -
                                                   static_cast<int64_t>(busiest.idle_cpus));
    if (flags.numa) tasks = adjust_numa_imbalance(tasks, local.nr_running + 1, imb_numa_nr);
    return {MigrationType::task, tasks >> 1};
  }
  const uint64_t average = d.avg_load();
  if (local.type < GroupType::overloaded) {
    local.set_avg_load();
    // A busiest group that is not overloaded has no average: nothing is taken from it.
    if (local.avg_load >= busiest.avg_load || local.avg_load >= average) return {};
  }
  return {MigrationType::load,
          static_cast<int64_t>(std::min(sub(busiest.avg_load, average) * busiest.capacity,
                                        sub(average, local.avg_load) * local.capacity) /
                               1024)};
}

int64_t balance_jiffies(const SchedDomain& d, bool busy, int64_t hz, size_t online_cpus) {
  int64_t ms = d.balance_interval_ms;
  if (busy) ms *= d.busy_factor;
  const int64_t jiffies = (ms * hz + 999) / 1000 - (busy ? 1 : 0);
  const int64_t most = std::max<int64_t>(1, hz * static_cast<int64_t>(online_cpus) / 10);
  return std::clamp<int64_t>(jiffies, 1, most);
}

int64_t nr_idle_scan(uint64_t sum_util, uint32_t llc_weight, uint32_t pct) {
  const uint64_t x = sum_util / llc_weight;
  const uint64_t used =
      std::min<uint64_t>(1024, x * x * uint64_t{pct} * uint64_t{pct} / (10000 * 1024));
  return static_cast<int64_t>((1024 - used) * llc_weight / 1024);
}

}  // namespace runqlab::sched
