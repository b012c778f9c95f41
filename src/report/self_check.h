// report/self_check.h — how close the free re-run of the recorded kernel came to the recording.
#pragma once

#include <string>

#include "report/rows.h"
#include "workload/api/workload.h"

namespace runqlab::report {

struct SelfCheck {
  // Tasks with at least kLeastCpu on a CPU in the recording.
  size_t tasks = 0;
  size_t beyond = 0;     // of these, CPU time off by more than 3 %
  double worst_pct = 0;  // largest deviation, signed
  std::string worst_task;
  analysis::TaskMetrics recorded, rerun;  // whole run

  static constexpr Duration kLeastCpu = Duration::millis(1);
};

SelfCheck self_check(const Workload& workload, const TaskColumn& recorded, const TaskColumn& rerun);
std::string self_check_text(const SelfCheck& check);

}  // namespace runqlab::report
