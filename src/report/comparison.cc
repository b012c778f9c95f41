#include "report/comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "report/text_table.h"

namespace runqlab::report {
namespace {

const analysis::TaskMetrics& column(const Row& row, int i) {
  return row.columns[static_cast<size_t>(i)];
}

std::string change_cell(int64_t a, int64_t b, std::optional<int64_t> error) {
  if (a != b && error && std::llabs(b - a) < *error) return "< model error";
  return print_change(a, b);
}

}  // namespace

std::optional<int64_t> model_error(const Row& row, const Metric& metric,
                                   const ComparisonColumns& c) {
  if (c.recorded < 0 || c.self_check < 0) return std::nullopt;
  return std::llabs(metric.value(column(row, c.self_check)) -
                    metric.value(column(row, c.recorded)));
}

std::string comparison_table(const std::vector<Row>& rows, const ComparisonColumns& c) {
  std::vector<std::string> head = {"task", "metric"};
  for (const std::string& t : c.titles) head.push_back(t);
  for (const int b : c.b)
    head.push_back(c.titles[static_cast<size_t>(b)] + "-" + c.titles[static_cast<size_t>(c.a)]);
  if (c.recorded >= 0) head.push_back("model error");
  TextTable table(std::move(head));
  for (const Row& row : rows) {
    bool first = true;
    for (const Metric& m : metrics()) {
      // A metric that is 0 in every column tells nothing.
      if (std::all_of(row.columns.begin(), row.columns.end(),
                      [&](const auto& col) { return m.value(col) == 0; })) {
        continue;
      }
      std::vector<std::string> cells = {first ? row.name : "", std::string(m.label)};
      first = false;
      for (const auto& col : row.columns) cells.push_back(print_value(m, m.value(col)));
      const std::optional<int64_t> error = model_error(row, m, c);
      const int64_t a = m.value(column(row, c.a));
      for (const int b : c.b) cells.push_back(change_cell(a, m.value(column(row, b)), error));
      if (error) cells.push_back(print_value(m, *error));
      table.add(std::move(cells));
    }
  }
  return table.print();
}

std::string sentence(const std::vector<Row>& rows, const ComparisonColumns& c) {
  if (c.b.empty() || rows.empty()) return "Nothing was compared.";
  const int b = c.b.front();
  const int64_t all_cpu = column(rows.back(), c.a).cpu.ns();
  struct Best {
    const Row* row;
    const Metric* metric;
    double change;
    std::optional<int64_t> error;
  };
  std::optional<Best> best;
  for (const Row& row : rows) {
    const bool total = &row == &rows.back();
    if (!total && column(row, c.a).cpu.ns() * 20 < all_cpu) continue;
    for (const Metric& m : metrics()) {
      const int64_t from = m.value(column(row, c.a)), to = m.value(column(row, b));
      const std::optional<int64_t> error = model_error(row, m, c);
      if (from == 0 || from == to || (error && std::llabs(to - from) <= *error)) continue;
      // A change counts beyond what the model may be wrong by; the longest latency is one event.
      if (m.key == "max") continue;
      const double beyond =
          std::fabs(static_cast<double>(to - from)) - static_cast<double>(error.value_or(0));
      const double change = beyond / static_cast<double>(from) * (total ? 0.5 : 1.0);
      if (!best || change > best->change) best = Best{&row, &m, change, error};
    }
  }
  if (!best) {
    return c.recorded >= 0
               ? "No metric of a task with 5 % of the CPU time changes by more than the model's "
                 "own error."
               : "A and B do not differ in any metric of a task with 5 % of the CPU time.";
  }
  const Metric& m = *best->metric;
  const std::string unit = m.unit.empty() ? "" : " " + std::string(m.unit);
  std::string who = best->row == &rows.back() ? "the whole run" : best->row->name;
  if (const size_t colon = who.rfind(':'); colon != std::string::npos) who.resize(colon);
  std::string s = fmt::format("{} of {}: {} → {}{}", m.words, who,
                              print_value(m, m.value(column(*best->row, c.a))),
                              print_value(m, m.value(column(*best->row, b))), unit);
  if (best->error) s += fmt::format(", model error {}{}", print_value(m, *best->error), unit);
  return s;
}

}  // namespace runqlab::report
