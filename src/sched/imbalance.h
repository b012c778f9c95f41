// sched/imbalance.h — the arithmetic of load balancing, on numbers alone (FAIR.md D.7, E.2 to E.5).
#pragma once

#include <cstdint>

#include "sched/state/domain.h"

namespace runqlab::sched {

// In ascending severity.
enum class GroupType : uint8_t { has_spare, fully_busy, imbalanced, overloaded };

// What a statistics pass knows of one group.
struct GroupStats {
  // Of the group, whatever CPUs are looked at.
  uint32_t weight = 0;  // CPUs
  uint32_t cores = 0;
  uint64_t capacity = 0;
  // Sums over the CPUs that are looked at.
  uint64_t load = 0;
  uint64_t util = 0;
  uint64_t runnable = 0;
  uint32_t nr_running = 0;  // all classes
  uint32_t h_nr = 0;        // fair tasks that are runnable
  uint32_t idle_cpus = 0;

  GroupType type = GroupType::has_spare;
  uint64_t avg_load = 0;  // load * 1024 / capacity; of overloaded groups, and on demand

  void set_avg_load() { avg_load = load * 1024 / capacity; }
};

GroupType classify(const GroupStats& g, uint32_t imbalance_pct, bool imbalanced);

// Tolerance for an imbalance of tasks between NUMA nodes (E.5).
int64_t adjust_numa_imbalance(int64_t imbalance, int64_t dst_running, uint32_t imb_numa_nr);

// What one attempt to balance a domain compares.
struct DomainStats {
  GroupStats local, busiest;
  bool prefer_sibling = false;  // of the busiest group
  bool dst_idle = false;
  uint64_t total_load = 0, total_capacity = 0;

  [[nodiscard]] uint64_t avg_load() const { return total_load * 1024 / total_capacity; }
};

// How many tasks the busiest group has above its share by cores.
int64_t sibling_imbalance(const DomainStats& d);

// How much to move (E.4), in load, in utilisation or in tasks.
enum class MigrationType : uint8_t { load, util, task };
struct Imbalance {
  MigrationType type = MigrationType::task;
  int64_t amount = 0;
};
Imbalance calculate_imbalance(const DomainStats& d, const DomainFlags& flags, uint32_t imb_numa_nr);

// Jiffies between two balances of a domain (E.2). A busy CPU waits longer, and one jiffy less than
// a multiple of the idle interval, so that levels do not all fall on one tick.
int64_t balance_jiffies(const SchedDomain& d, bool busy, int64_t hz, size_t online_cpus);

// How many CPUs of a cache a wakeup may search (SIS_UTIL, D.7).
int64_t nr_idle_scan(uint64_t sum_util, uint32_t llc_weight, uint32_t imbalance_pct);

// max_newidle_lb_cost after a second: 1 % less (E.6).
constexpr Duration decayed_newidle_cost(Duration cost) { return cost * 253 / 256; }

}  // namespace runqlab::sched
