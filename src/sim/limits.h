// sim/limits.h — what one run can hold. The user's input decides how much it is, so that too much
// is an Error and not a failed check.
#pragma once

#include "base/result.h"
#include "machine/machine_spec.h"
#include "workload/api/workload.h"

namespace runqlab::sim {

// Errors: more tasks and CPUs than the event queue has slots, or a time that it cannot hold.
Status check_limits(const machine::MachineSpec& machine, const Workload& workload);

}  // namespace runqlab::sim
