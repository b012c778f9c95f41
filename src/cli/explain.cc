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
    const uint64_t own_pid = w.tasks[id].pid != 0 ? static_cast<uint64_t>(w.tasks[id].pid) : i + 1;
    const bool by_pid = pid && own_pid == *pid;
    if (names.back() == text || w.tasks[id].name == text || by_pid) found.push_back(id);
  }
  if (found.size() == 1) return found[0];
  const std::vector<std::string_view> views(names.begin(), names.end());
  return Error{.message = found.empty() ? "no task of the run has that name"
                                        : "several tasks have that name",
               .token = text,
               .hint = found.empty() ? did_you_mean(text, views) : "say COMM-PID"};
}

Result<Workload> workload_of(const analysis::RunFile& file, const analysis::StoredArm& arm) {
  if (file.replay) return file.replay->workload;
  return workload::build_workload(file.workload, arm.machine.topology.nr_cpus());
}

Result<analysis::ArmRun> run_again(const analysis::RunFile& file, const analysis::StoredArm& stored,
                                   const Workload& workload, const std::string& name) {
  if (Status s = sim::check_limits(stored.machine, workload); !s) return s.error();
  const auto base = sched::kernel_of("6.18");  // a stored arm names its kernel
  if (!base) return base.error();
  const auto kernel = sched::parse_arm(stored.arm, *base);
  if (!kernel) return kernel.error();
  const machine::Tracing tracing = file.replay ? file.replay->tracing : machine::Tracing{};
  analysis::ArmRun run =
      analysis::run_arm({stored.machine, *kernel, stored.seed, tracing}, workload, true);
  const uint64_t hash = run.result.state_hash;
  if (hash != stored.state_hash) {
    return Error{.message = fmt::format("the run file holds state_hash {}, this version gives {}",
                                        report::hex(stored.state_hash), report::hex(hash)),
                 .file = name,
                 .hint = "it was written by runqlab " + file.version + ": make it again"};
  }
  return run;
}

std::string arm_name(const analysis::RunFile& file, const analysis::StoredArm& arm) {
  const bool elsewhere = arm.machine.name != file.arms.front().machine.name;
  return arm.arm + (elsewhere ? " on " + arm.machine.name : "");
}

int explain(const Options& o) {
  const auto file = analysis::read_run_file(o.run);
  if (!file) return fail(file.error());
  report::Json out = report::Json::array();
  std::string text, ranges;
  for (const analysis::StoredArm& stored : file->arms) {
    const auto workload = workload_of(*file, stored);
    if (!workload) return fail(workload.error());
    const auto task = find_task(*workload, o.task);
    if (!task) return fail(task.error());
    const auto run = run_again(*file, stored, *workload, o.run);
    if (!run) return fail(run.error());
    const std::string arm = arm_name(*file, stored);
    const size_t n = run->decisions.count(*task);
    const std::string range = n == 0 ? "none" : n == 1 ? "0" : fmt::format("0 to {}", n - 1);
    ranges += fmt::format("{}{} in {}", ranges.empty() ? "it has " : ", ", range, arm);
    const analysis::Decision* d = run->decisions.find(*task, static_cast<uint32_t>(o.wakeup));
    if (d == nullptr) {
      text += fmt::format("{}:\n  no wakeup {} of this task: {}\n", arm, o.wakeup, range);
      continue;
    }
    text += fmt::format("{}:\n  {}\n", arm, report::decision_line(*workload, *d));
    out.push_back(report::decision_json(*workload, *d));
    out.back()["arm"] = stored.arm;
    out.back()["machine"] = stored.machine.name;
  }
  if (out.empty()) {
    return fail({.message = "no arm has this wakeup of the task",
                 .file = o.run,
                 .token = fmt::format("--wakeup {}", o.wakeup),
                 .hint = ranges});
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
