// report/metric.h — the metrics of a table row: how each is called, read and printed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analysis/metrics.h"

namespace runqlab::report {

struct Metric {
  std::string_view key;    // in JSON and --fail-if: "p99"
  std::string_view label;  // in a table: "wakeup p99 µs"
  std::string_view words;  // in a sentence: "p99 wakeup latency"
  std::string_view unit;
  int64_t scale;  // value / scale is what is printed
  int decimals;
  int64_t (*value)(const analysis::TaskMetrics&);  // ns, or a count
};

std::span<const Metric> metrics();
// Null when there is none of this key.
const Metric* find_metric(std::string_view key);

// "24.68", in the metric's unit.
std::string print_value(const Metric& metric, int64_t value);
// "+12.3%", "0%", or "new" when `from` is 0 and `to` is not.
std::string print_change(int64_t from, int64_t to);

}  // namespace runqlab::report
