// sched/group_stats.h — what the balancer and the fork path count of the CPUs of a scheduling group
// (FAIR.md C.4, E.3).
#pragma once

#include <cstdint>

#include "sched/imbalance.h"
#include "sched/state/kernel_state.h"

namespace runqlab::sched {

// Of the group itself; the sums are still 0.
inline GroupStats stats_of(const SchedGroup& g) {
  return {.weight = g.weight, .cores = g.cores, .capacity = g.capacity};
}

// Sums one CPU into `g`, leaving out what `without` contributes (null: nobody).
void add_cpu(GroupStats& g, const KernelState& s, CpuId c, const Task* without);

// Utilisation of a CPU as decisions see it: min(capacity, max(util_avg, util_est)) (FAIR.md C.4).
// `boost` counts waiting tasks too.
uint64_t cpu_util(const KernelState& s, CpuId c, const Task* without, bool boost);

}  // namespace runqlab::sched
