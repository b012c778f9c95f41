#include "report/json.h"

#include <fmt/core.h>

#include "report/decisions.h"
#include "sched/placement.h"

namespace runqlab::report {

std::string hex(uint64_t v) { return fmt::format("{:016x}", v); }

Json metrics_json(const analysis::TaskMetrics& m) {
  Json j;
  for (const Metric& metric : metrics()) {
    std::string key(metric.key);
    if (metric.decimals != 0) key += "_ns";
    j[key] = metric.value(m);
  }
  j["wakeups"] = m.wakeup.count();
  return j;
}

Json rows_json(const std::vector<Row>& rows, const ComparisonColumns& c) {
  Json out = Json::array();
  for (const Row& row : rows) {
    Json j = {{"name", row.name}};
    for (size_t i = 0; i < row.columns.size(); ++i) {
      j[c.titles[i]] = metrics_json(row.columns[i]);
    }
    if (c.recorded >= 0 && c.self_check >= 0) {
      Json errors;
      for (const Metric& m : metrics()) {
        std::string key(m.key);
        if (m.decimals != 0) key += "_ns";
        errors[key] = *model_error(row, m, c);
      }
      j["model_error"] = errors;
    }
    out.push_back(std::move(j));
  }
  return out;
}

Json run_json(const sim::RunResult& r, uint64_t scenario, const sched::KernelConfig& kernel) {
  Json j = {{"kernel", kernel.kernel},
            {"switches", kernel.switches},
            {"preempt", to_string(kernel.tunables.preempt)},
            {"scenario_hash", hex(scenario)},
            {"state_hash", hex(r.state_hash)},
            {"end", to_string(r.end)},
            {"finished_ns", r.finished.ns()},
            {"events", r.events},
            {"records", r.records},
            {"tasks_left", r.tasks_left}};
  if (!kernel.unknown.empty()) j["unknown_rules"] = kernel.unknown;
  return j;
}

Json diagnostics_json(const Diagnostics& diagnostics) {
  Json j = Json::object();
  for (const auto& [kind, k] : diagnostics.kinds()) {
    Json places = Json::array();
    for (const Error& e : k.first) places.push_back(e.to_string());
    j[kind] = {{"count", k.count}, {"first", places}};
  }
  return j;
}

Json decision_json(const Workload& w, const analysis::Decision& d) {
  Json j = {{"task", task_name(w, d.task)},
            {"wakeup", d.ordinal},
            {"time_ns", d.time.ns()},
            {"waker", task_name(w, d.waker)},
            {"waker_cpu", d.waker_cpu.value()},
            {"prev_cpu", d.prev.value()},
            {"sync", (d.flags & wake_flags::kSync) != 0}};
  if (d.chosen.valid()) {
    j["cpu"] = d.chosen.value();
    j["rule"] = to_string(static_cast<sched::PlacementRule>(d.rule));
    j["wake_affine"] = to_string(static_cast<sched::AffineRule>(d.affine));
    j["left"] = d.left;
    j["right"] = d.right;
    j["probes"] = d.probes;
  }
  if (d.latency_ns >= 0) j["latency_ns"] = d.latency_ns;
  return j;
}

}  // namespace runqlab::report
