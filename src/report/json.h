// report/json.h — the same facts as the tables, for programs. Times are integer nanoseconds.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/arm_run.h"
#include "base/diagnostics.h"
#include "report/comparison.h"
#include "sched/kernel_config.h"

namespace runqlab::report {

using Json = nlohmann::ordered_json;

std::string hex(uint64_t v);
Json metrics_json(const analysis::TaskMetrics& m);
// One object per row: its name and, per column title, its metrics; the model's error beside them.
Json rows_json(const std::vector<Row>& rows, const ComparisonColumns& columns);
Json run_json(const sim::RunResult& result, uint64_t scenario, const sched::KernelConfig& kernel);
Json diagnostics_json(const Diagnostics& diagnostics);
Json decision_json(const Workload& workload, const analysis::Decision& d);

}  // namespace runqlab::report
