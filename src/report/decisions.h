// report/decisions.h — placement decisions in words.
#pragma once

#include <string>
#include <vector>

#include "analysis/decisions.h"
#include "workload/api/workload.h"

namespace runqlab::report {

// "comm-pid" of a task; "an interrupt" for none.
std::string task_name(const Workload& workload, TaskId task);

// One decision in one line: who woke whom, from which CPU, and which rule chose which CPU from
// which values.
std::string decision_line(const Workload& workload, const analysis::Decision& d);

// The wakeups whose placement changed, each with both rules.
std::string changed_list(const Workload& workload,
                         const std::vector<analysis::ChangedPlacement>& changed, uint64_t total);

}  // namespace runqlab::report
