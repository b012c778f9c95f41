// sched/group_stats.h — what the balancer and the fork path know of a scheduling group, and how
// they classify it (FAIR.md E.3, E.5).
#pragma once

#include <cstdint>

#include "sched/state/kernel_state.h"

namespace runqlab::sched {

// In ascending severity.
enum class GroupType : uint8_t { has_spare, fully_busy, imbalanced, overloaded };

struct GroupStats {
  uint64_t load = 0;
  uint64_t util = 0;
  uint64_t runnable = 0;
  uint64_t capacity = 0;
  uint32_t weight = 0;      // CPUs counted
  uint32_t nr_running = 0;  // all classes
  uint32_t h_nr = 0;        // fair tasks that are runnable
  uint32_t idle_cpus = 0;
  GroupType type = GroupType::has_spare;
  uint64_t avg_load = 0;  // load * 1024 / capacity; of overloaded groups, and on demand
};

GroupType classify(const GroupStats& g, uint32_t imbalance_pct, bool imbalanced);

// Sums one CPU into `g`, leaving out what `without` contributes (null: nobody).
void add_cpu(GroupStats& g, const KernelState& s, CpuId c, const Task* without);

// Utilisation of a CPU as decisions see it: min(capacity, max(util_avg, util_est)) (FAIR.md C.4).
// `boost` counts waiting tasks too.
uint64_t cpu_util(const KernelState& s, CpuId c, const Task* without, bool boost);

// Tolerance for an imbalance of tasks between NUMA nodes (E.5).
int64_t adjust_numa_imbalance(int64_t imbalance, int64_t dst_running, uint32_t imb_numa_nr);

}  // namespace runqlab::sched
