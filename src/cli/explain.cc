// runqlab explain RUN — why this CPU: the stored scenario is run again, and the decision printed.
#include <fmt/core.h>

#include "analysis/arm_run.h"
#include "analysis/run_file.h"
#include "base/numbers.h"
#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "report/decisions.h"
#include "report/json.h"
#include "sim/limits.h"
#include "workload/models/models.h"

namespace runqlab::cli {
namespace {

struct Options {
  std::string run;
  std::string task;
  uint64_t wakeup = 0;
  bool json = false;
};

// "COMM-PID", a pid, or a comm that only one task has.
Result<TaskId> find_task(const Workload& w, const std::string& text) {
  std::vector<TaskId> found;
  std::vector<std::string> names;
  const auto pid = parse_u64(text);
  for (size_t i = 0; i < w.tasks.size(); ++i) {
    const TaskId id = TaskId::of(i);
    names.push_back(report::task_name(w, id));
    const bool by_pid = pid && w.tasks[id].pid == static_cast<int64_t>(*pid);
    if (names.back() == text || w.tasks[id].name == text || by_pid) found.push_back(id);
  }
  if (found.size() == 1) return found[0];
  const std::vector<std::string_view> views(names.begin(), names.end());
  return Error{.message = found.empty() ? "no task of the run has that name"
                                        : "several tasks have that name",
               .token = text,
               .hint = found.empty() ? did_you_mean(text, views) : "say COMM-PID"};
}

int explain(const Options& o) {
  auto file = analysis::read_run_file(o.run);
  if (!file) return fail(file.error());
  Workload built;
  if (!file->replay) {
    auto w = workload::build_workload(file->workload, file->machine.topology.nr_cpus());
    if (!w) return fail(w.error());
    built = std::move(*w);
  }
  const Workload& workload = file->replay ? file->replay->workload : built;
  const machine::Tracing tracing = file->replay ? file->replay->tracing : machine::Tracing{};
  const auto task = find_task(workload, o.task);
  if (!task) return fail(task.error());
  if (Status s = sim::check_limits(file->machine, workload); !s) return fail(s.error());
  report::Json out = report::Json::array();
  std::string text;
  for (const analysis::StoredArm& stored : file->arms) {
    auto base = sched::kernel_of("6.18");
    if (!base) return fail(base.error());
    auto kernel = sched::parse_arm(stored.arm, *base);
    if (!kernel) return fail(kernel.error());
    const analysis::ArmRun run =
        analysis::run_arm({file->machine, *kernel, stored.seed, tracing}, workload, true);
    if (run.result.state_hash != stored.state_hash) {
      return fail({.message = fmt::format("the run file holds state_hash {}, this version gives {}",
                                          report::hex(stored.state_hash),
                                          report::hex(run.result.state_hash)),
                   .file = o.run,
                   .hint = "it was written by runqlab " + file->version + ": make it again"});
    }
    const analysis::Decision* d = run.decisions.find(*task, static_cast<uint32_t>(o.wakeup));
    if (d == nullptr) {
      const std::string missing = fmt::format("{}:\n  the task is woken {} times\n", stored.arm,
                                              run.decisions.count(*task));
      if (o.json) print_error("{}", missing);
      text += missing;
      continue;
    }
    text += fmt::format("{}:\n  {}\n", stored.arm, report::decision_line(workload, *d));
    out.push_back(report::decision_json(workload, *d));
    out.back()["arm"] = stored.arm;
  }
  if (out.empty()) {
    if (!o.json) print_error("{}", text);
    return fail({.message = "no arm has this wakeup",
                 .token = std::to_string(o.wakeup),
                 .hint = "--wakeup counts from 0"});
  }
  if (o.json) {
    print_json(out);
  } else {
    print_text("{}", text);
  }
  return kOk;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand("explain", "why this CPU: the decision of one wakeup");
  cmd->add_option("run", o->run, "run file, as written by -o")->required();
  cmd->add_option("--task", o->task, "COMM-PID, pid or comm")->required();
  cmd->add_option("--wakeup", o->wakeup, "which of the task's wakeups, from 0")
      ->check(CLI::Range(uint64_t{0}, uint64_t{UINT32_MAX}))
      ->required();
  cmd->add_flag("--json", o->json, "print JSON instead of text");
  cmd->callback([o, &exit_code] { exit_code = explain(*o); });
}

}  // namespace runqlab::cli
