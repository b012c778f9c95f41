// sched/fair_params.h — what the pick policies need to know of the kernel and the machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "sched/state/features.h"

namespace runqlab::sched {

struct KernelConfig;

// Constant for a run. Times are scaled by the number of CPUs where the kernel scales them.
struct FairParams {
  const Features& feat;
  int64_t tick_ns;
  // EEVDF (FAIR.md B.2).
  int64_t base_slice_ns;
  int64_t base_slice_unscaled_ns;
  // CFS (FAIR.md A.3).
  int64_t latency_ns;
  int64_t min_granularity_ns;
  int64_t wakeup_granularity_ns;
  int64_t idle_min_granularity_ns;
  int64_t nr_latency;
};

// `config` must outlive it.
FairParams fair_params(const KernelConfig& config, size_t online_cpus, Duration tick);
FairParams fair_params(const KernelConfig&& config, size_t online_cpus, Duration tick) = delete;

}  // namespace runqlab::sched
