#include "report/metric.h"

#include <fmt/core.h>

namespace runqlab::report {
namespace {

using analysis::TaskMetrics;

constexpr Metric kMetrics[] = {
    {"cpu", "CPU ms", "CPU time", "ms", 1'000'000, 3,
     [](const TaskMetrics& m) { return m.cpu.ns(); }},
    {"switches", "switches", "number of switches", "", 1, 0,
     [](const TaskMetrics& m) { return static_cast<int64_t>(m.switches); }},
    {"migrations", "migrations", "number of migrations", "", 1, 0,
     [](const TaskMetrics& m) { return static_cast<int64_t>(m.migrations); }},
    {"p50", "wakeup p50 µs", "p50 wakeup latency", "µs", 1'000, 2,
     [](const TaskMetrics& m) { return m.wakeup.permille(500).ns(); }},
    {"p99", "wakeup p99 µs", "p99 wakeup latency", "µs", 1'000, 2,
     [](const TaskMetrics& m) { return m.wakeup.permille(990).ns(); }},
    {"max", "wakeup max µs", "longest wakeup latency", "µs", 1'000, 2,
     [](const TaskMetrics& m) { return m.wakeup.max().ns(); }},
    {"finish", "finished ms", "finish time", "ms", 1'000'000, 3,
     [](const TaskMetrics& m) { return (m.finished - SimTime{}).ns(); }},
};

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

const Metric* find_metric(std::string_view key) {
  for (const Metric& m : kMetrics) {
    if (m.key == key) return &m;
  }
  return nullptr;
}

std::string print_value(const Metric& m, int64_t value) {
  if (m.decimals == 0) return std::to_string(value);
  return fmt::format("{:.{}f}", static_cast<double>(value) / static_cast<double>(m.scale),
                     m.decimals);
}

std::string print_change(int64_t from, int64_t to) {
  if (from == to) return "0%";
  if (from == 0) return "new";
  return fmt::format("{:+.1f}%",
                     100.0 * static_cast<double>(to - from) / static_cast<double>(from));
}

}  // namespace runqlab::report
