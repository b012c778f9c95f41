// analysis/scenario.h — what identifies a run: machine, kernel rules, workload, seed.
#pragma once

#include <cstdint>

#include "machine/machine.h"
#include "machine/machine_spec.h"
#include "sched/kernel_config.h"
#include "workload/api/workload.h"

namespace runqlab::analysis {

// Equal for runs that must give equal state hashes. Names and sources do not count.
uint64_t scenario_hash(const machine::MachineSpec& machine, const sched::KernelConfig& kernel,
                       const Workload& workload, const machine::Tracing& tracing, uint64_t seed);

}  // namespace runqlab::analysis
