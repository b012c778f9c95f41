// report/rows.h — tasks grouped for people: by comm as `perf sched latency` merges them, or one by
// one.
#pragma once

#include <string>
#include <vector>

#include "analysis/metrics.h"
#include "workload/api/workload.h"

namespace runqlab::report {

enum class GroupBy : uint8_t { comm, task };

using TaskColumn = std::vector<analysis::TaskMetrics>;  // by TaskId

struct Row {
  std::string name;  // "postgres:(5)", "ring0:11742", "12 others", "TOTAL"
  std::vector<analysis::TaskMetrics> columns;
};

struct RowOptions {
  GroupBy by = GroupBy::comm;
  std::vector<std::string> comms{};  // only these; empty: all
  size_t most = 20;                  // rows before the rest is summed
};

// One row per group, largest CPU time of the first column first, then the rest, then the whole run.
// Every column has one entry per task of the workload.
std::vector<Row> make_rows(const Workload& workload, const std::vector<const TaskColumn*>& columns,
                           const RowOptions& options);

}  // namespace runqlab::report
