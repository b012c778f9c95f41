#include "report/self_check.h"

#include <fmt/core.h>

#include <cmath>

#include "report/decisions.h"
#include "report/metric.h"

namespace runqlab::report {

SelfCheck self_check(const Workload& w, const TaskColumn& recorded, const TaskColumn& rerun) {
  constexpr double kTolerancePct = 3;
  SelfCheck s;
  for (size_t i = 0; i < w.tasks.size(); ++i) {
    s.recorded.merge(recorded[i]);
    s.rerun.merge(rerun[i]);
    const int64_t was = recorded[i].cpu.ns();
    if (recorded[i].cpu < SelfCheck::kLeastCpu) continue;
    ++s.tasks;
    const double pct =
        100.0 * static_cast<double>(rerun[i].cpu.ns() - was) / static_cast<double>(was);
    if (std::fabs(pct) > kTolerancePct) ++s.beyond;
    if (s.worst_task.empty() || std::fabs(pct) > std::fabs(s.worst_pct)) {
      s.worst_pct = pct;
      s.worst_task = task_name(w, TaskId::of(i));
    }
  }
  return s;
}

std::string self_check_text(const SelfCheck& s) {
  std::string out;
  if (s.tasks == 0) {
    out += "  CPU time per task   no task ran for 1 ms\n";
  } else {
    out += fmt::format(
        "  CPU time per task   {} of {} tasks above 1 ms within 3 %, worst {:+.1f}% ({})\n",
        s.tasks - s.beyond, s.tasks, s.worst_pct, s.worst_task);
  }
  for (const Metric& m : metrics()) {
    if (m.key == "cpu" || m.key == "max" || m.key == "finish") continue;
    const int64_t was = m.value(s.recorded), is = m.value(s.rerun);
    out += fmt::format("  {:<18}  recorded {}, re-run {}", m.label, print_value(m, was),
                       print_value(m, is));
    if (was != 0) {
      out += m.decimals == 0
                 ? fmt::format(" ({})", print_change(was, is))
                 : fmt::format(" (× {:.2f})", static_cast<double>(is) / static_cast<double>(was));
    }
    out += '\n';
  }
  return out;
}

}  // namespace runqlab::report
