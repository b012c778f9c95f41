#include "report/decisions.h"

#include <fmt/core.h>

#include "sched/placement.h"

namespace runqlab::report {
namespace {

std::string latency(const analysis::Decision& d) {
  return d.latency_ns < 0 ? std::string("never ran")
                          : fmt::format("{:.2f} µs", static_cast<double>(d.latency_ns) / 1e3);
}

std::string rule_words(const analysis::Decision& d) {
  if (!d.chosen.valid()) return "still queued: no CPU was selected";
  const auto rule = static_cast<sched::PlacementRule>(d.rule);
  const auto affine = static_cast<sched::AffineRule>(d.affine);
  std::string s = fmt::format("CPU {} by {}", d.chosen.value(), to_string(rule));
  if (affine != sched::AffineRule::not_asked) {
    s += fmt::format(", wake_affine {}", to_string(affine));
    if (sched::compares_load(affine)) s += fmt::format(" (load {} against {})", d.left, d.right);
  }
  if (d.probes != 0) s += fmt::format(", {} CPUs probed", d.probes);
  if (rule == sched::PlacementRule::none_idle && !sched::compares_load(affine)) {
    s += fmt::format(" (queued: {} on the waker's CPU {}, {} on the previous CPU {})", d.left,
                     d.waker_cpu.value(), d.right, d.prev.value());
  }
  return s;
}

}  // namespace

std::string task_name(const Workload& w, TaskId task) {
  if (!task.valid()) return "an interrupt";
  const TaskSpec& t = w.tasks[task];
  return fmt::format("{}-{}", t.name, t.pid != 0 ? t.pid : static_cast<int32_t>(task.value()) + 1);
}

std::string decision_line(const Workload& w, const analysis::Decision& d) {
  return fmt::format(
      "{:.6f} s  {} wakes {} (its {}. wakeup) on CPU {}, previous CPU {}{}: {}; ran after {}",
      static_cast<double>(d.time.ns()) / 1e9, task_name(w, d.waker), task_name(w, d.task),
      d.ordinal + 1, d.waker_cpu.value(), d.prev.value(),
      (d.flags & wake_flags::kSync) != 0 ? ", sync" : "", rule_words(d), latency(d));
}

std::string changed_list(const Workload& w, const std::vector<analysis::ChangedPlacement>& changed,
                         uint64_t total) {
  std::string s = fmt::format("Wakeups whose placement changed: {}", total);
  if (changed.empty()) return s + "\n";
  s += changed.size() < total
           ? fmt::format("; the {} whose latency changed most:\n", changed.size())
           : ":\n";
  for (const auto& c : changed) {
    s += fmt::format("  {} wakeup {}: CPU {} → {}, latency {} → {}\n", task_name(w, c.a->task),
                     c.a->ordinal, c.a->chosen.value(), c.b->chosen.value(), latency(*c.a),
                     latency(*c.b));
    s += fmt::format("    A: {}\n    B: {}\n", rule_words(*c.a), rule_words(*c.b));
  }
  return s;
}

}  // namespace runqlab::report
