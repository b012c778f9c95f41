// report/comparison.h — the A/B table: a block of metric lines for every row, with the change from
// A to B and, for a replay, the model's own error beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/metric.h"
#include "report/rows.h"

namespace runqlab::report {

struct ComparisonColumns {
  std::vector<std::string> titles;  // of the row's columns, in order
  int recorded = -1;                // index of the recording's column
  int self_check = -1;              // of the re-run of the recorded kernel: gives the model error
  int a = 0;                        // of arm A
  std::vector<int> b{};             // of the arms compared with A
};

// The table as text, with a heading line.
std::string comparison_table(const std::vector<Row>& rows, const ComparisonColumns& columns);

// The model's error of a metric in a row; nothing without a recording.
std::optional<int64_t> model_error(const Row& row, const Metric& metric,
                                   const ComparisonColumns& columns);

// The one sentence a person would say about A and B, from the largest change above the model's
// error in a row that matters (at least 5 % of the CPU time).
std::string sentence(const std::vector<Row>& rows, const ComparisonColumns& columns);

}  // namespace runqlab::report
