// What `runqlab replay` prints: the self-check first, then A against B.
#include <fmt/core.h>

#include <algorithm>

#include "base/numbers.h"
#include "cli/output.h"
#include "cli/replay_run.h"
#include "report/decisions.h"
#include "report/json.h"

namespace runqlab::cli {

std::string ReplayRun::head() const {
  const trace::ReplayCounts& c = replay_.counts;
  std::string s;
  for (const ReplayArm& arm : arms_) {
    for (const std::string& u : arm.kernel.unknown) {
      s += fmt::format("note: {}: {}\n", arm.title, u);
    }
  }
  s += fmt::format("runqlab {} replay {}\n", RUNQLAB_VERSION, o_.trace);
  s += fmt::format("  recording   {}, {} events, {} CPUs, {:.1f} ms, {} tasks\n",
                   to_string(replay_.import.format), replay_.import.events, replay_.nr_cpus,
                   static_cast<double>(replay_.span.ns()) / 1e6, c.tasks);
  s += fmt::format("  machine     {}: {}\n", recorded_on().name, recorded_on().description);
  for (const ReplayArm& arm : arms_) {
    s += fmt::format("  {:<10}  {}\n", arm.title, arm_words(arm, recorded_on()));
  }
  s += fmt::format(
      "  wakeups     {} by tasks, {} in softirqs of a task's send, {} own timers and {} on a "
      "clock, {} own requests, "
      "{} from outside; {} ended no block; {} answers hidden by preemption put back\n",
      c.task_edges, c.softirq_edges, c.timers, c.periodic, c.requests, c.arrivals, c.not_blocked,
      c.rendezvous);
  s += note_;
  s += elsewhere();
  s += fmt::format(
      "  assumed     modelled costs taken out of the bursts at {} % (--cost-correction), {} pieces "
      "were shorter than theirs\n"
      "  assumed     WF_SYNC {} (--sync-hint); {} tasks pinned (--affinity); {} switches were "
      "yields\n"
      "  assumed     load averages begin at each task's share of the recording\n",
      o_.cost_correction, c.clamped, o_.sync_hint, c.inferred_pinned, c.yields);
  if (c.over_tasks != 0) {
    s += fmt::format(
        "  assumed     {} wakeups over a task taken for timers': the recording has no flags\n",
        c.over_tasks);
  }
  s += warnings(diagnostics_);
  return s;
}

// What of the recording names CPUs that another machine may not have.
std::string ReplayRun::elsewhere() const {
  std::string s;
  for (const ReplayArm& arm : arms_) {
    if (same_machine(arm.machine, recorded_on())) continue;
    const size_t nr_cpus = arm.machine.topology.nr_cpus();
    const auto homeless = [&](const std::string& list) {
      uint32_t first_cpu = list.empty() ? 0 : UINT32_MAX;
      parse_cpu_list(list,
                     [&](uint32_t first, uint32_t) { first_cpu = std::min(first_cpu, first); });
      return first_cpu >= nr_cpus;
    };
    const Workload& w = replay_.workload;
    auto n = std::count_if(w.cpu_lists.begin(), w.cpu_lists.end(), homeless);
    for (const TaskSpec& t : w.tasks) n += homeless(t.allowed) ? 1 : 0;
    s += fmt::format(
        "  assumed     {} on {}: affinities keep their CPU numbers, {} of them have no CPU there "
        "and "
        "allow all; interrupts go to their CPU modulo {}\n",
        arm.title, arm.machine.name, n, nr_cpus);
  }
  return s;
}

void ReplayRun::show_text() const {
  print_text("{}\nSelf-check: the recorded kernel and machine, re-run freely\n{}", head(),
             report::self_check_text(check_));
  for (const ReplayArm& arm : arms_) {
    const sim::RunResult& r = arm.run.result;
    print_text("  run {:<14}  state_hash {}, scenario {}, seed {}, {} events; {}\n", arm.title,
               report::hex(r.state_hash), report::hex(scenario(arm)), o_.common.seed, r.events,
               sim::to_string(r.end));
  }
  print_text("\n{}\n", report::comparison_table(rows_, layout_));
  if (!layout_.b.empty()) {
    print_text("{}\n", report::changed_list(replay_.workload, changed_, total_changed_));
  }
  print_text("{}", next_commands());
  if (!layout_.b.empty()) print_text("\n{}\n", report::sentence(rows_, layout_));
}

void ReplayRun::show_json() const {
  const trace::ReplayCounts& c = replay_.counts;
  report::Json j = {
      {"runqlab", RUNQLAB_VERSION}, {"command", "replay"},
      {"trace", o_.trace},          {"machine", recorded_on().name},
      {"seed", o_.common.seed},     {"state_hash", report::hex(arms_[a_].run.result.state_hash)}};
  j["recording"] = {{"format", to_string(replay_.import.format)},
                    {"events", replay_.import.events},
                    {"cpus", replay_.nr_cpus},
                    {"span_ns", replay_.span.ns()},
                    {"tasks", c.tasks},
                    {"yields", c.yields},
                    {"task_edges", c.task_edges},
                    {"over_tasks", c.over_tasks},
                    {"softirq_edges", c.softirq_edges},
                    {"timers", c.timers},
                    {"periodic_timers", c.periodic},
                    {"requests", c.requests},
                    {"arrivals", c.arrivals},
                    {"not_blocked", c.not_blocked},
                    {"clamped", c.clamped},
                    {"inferred_pinned", c.inferred_pinned},
                    {"rendezvous", c.rendezvous}};
  j["warnings"] = report::diagnostics_json(diagnostics_);
  j["self_check"] = {{"tasks", check_.tasks},
                     {"tasks_beyond_3_percent", check_.beyond},
                     {"worst_cpu_percent", check_.worst_pct},
                     {"worst_task", check_.worst_task},
                     {"recorded", report::metrics_json(check_.recorded)},
                     {"rerun", report::metrics_json(check_.rerun)}};
  for (const ReplayArm& arm : arms_) {
    j["arms"][arm.title] = report::run_json(arm.run.result, scenario(arm), arm.kernel);
    j["arms"][arm.title]["machine"] = arm.machine.name;
  }
  j["rows"] = report::rows_json(rows_, layout_);
  if (!layout_.b.empty()) {
    report::Json list = report::Json::array();
    for (const auto& ch : changed_) {
      list.push_back({{"A", report::decision_json(replay_.workload, *ch.a)},
                      {"B", report::decision_json(replay_.workload, *ch.b)}});
    }
    j["changed_placements"] = {{"count", total_changed_}, {"most_changed", list}};
    j["sentence"] = report::sentence(rows_, layout_);
  }
  print_json(j);
}

}  // namespace runqlab::cli
