// analysis/arm_run.h — one arm of an experiment, run to its end, with what was measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/decisions.h"
#include "analysis/metrics.h"
#include "sim/simulation.h"

namespace runqlab::analysis {

struct ArmRun {
  sim::RunResult result;
  std::vector<TaskMetrics> tasks;
  DecisionSink decisions;  // empty unless asked for
};

// Runs the workload once. Thread-safe: arms may run side by side.
ArmRun run_arm(const sim::RunConfig& config, const Workload& workload, bool keep_decisions);

// Calls job(i) for i in [0, n) on up to `threads` threads. The caller stores results by index, so
// the number of threads changes nothing.
void for_each_parallel(size_t n, unsigned threads, const std::function<void(size_t)>& job);

}  // namespace runqlab::analysis
