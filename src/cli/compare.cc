// runqlab compare WORKLOAD — A against B over N seeds.
#include <fmt/core.h>

#include "analysis/arm_run.h"
#include "analysis/run_file.h"
#include "analysis/scenario.h"
#include "cli/arm.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "report/comparison.h"
#include "report/json.h"
#include "sim/limits.h"
#include "workload/models/models.h"

namespace runqlab::cli {
namespace {

struct Options {
  CommonOptions common;
  ArmOptions arms;
  TableOptions table;
  std::string workload;
  unsigned runs = 1;
};

struct ComparedArm : Arm {
  Workload workload{};
  std::vector<analysis::ArmRun> runs{};
  report::TaskColumn mean{};  // counts and times averaged over the runs, latencies pooled
};

void average(ComparedArm& arm) {
  arm.mean.resize(arm.runs[0].tasks.size());
  const auto n = static_cast<int64_t>(arm.runs.size());
  for (size_t i = 0; i < arm.mean.size(); ++i) {
    analysis::TaskMetrics& m = arm.mean[i];
    int64_t finished = 0;
    for (const analysis::ArmRun& run : arm.runs) {
      m.merge(run.tasks[i]);
      finished += run.tasks[i].finished.ns();
    }
    m.cpu = m.cpu / n;
    m.switches /= static_cast<uint64_t>(n);
    m.migrations /= static_cast<uint64_t>(n);
    m.finished = SimTime::from_ns(finished / n);
  }
}

// The arms, A first, each with the workload built for its machine.
Result<std::vector<ComparedArm>> make_arms(const Options& o) {
  const auto base = base_arm(o.common, kDefaultMachine);
  if (!base) return base.error();
  auto a = parse_arm("A", o.arms.a, *base);
  if (!a) return a.error();
  auto others = b_arms(o.arms, *a);
  if (!others) return others.error();
  std::vector<ComparedArm> arms;
  arms.push_back({std::move(*a)});
  for (Arm& b : *others) arms.push_back({std::move(b)});
  for (ComparedArm& arm : arms) {
    if (o.common.strict && !arm.kernel.unknown.empty()) {
      return Error{.message = "--strict: " + arm.kernel.unknown.front()};
    }
    auto workload = workload::build_workload(o.workload, arm.machine.topology.nr_cpus());
    if (!workload) return workload.error();
    if (Status s = sim::check_limits(arm.machine, *workload); !s) return s.error();
    arm.workload = std::move(*workload);
    if (arm.workload.tasks.size() != arms[0].workload.tasks.size()) {
      return Error{.message = "the workload has another number of tasks on machine " +
                              arm.machine.name + " than on that of A",
                   .token = o.workload,
                   .hint = "give the parameters that depend on the machine"};
    }
    arm.runs.resize(o.runs);
  }
  return arms;
}

int compare(const Options& o) {
  const auto conditions = parse_fail_ifs(o.arms.fail_if);
  if (!conditions) return fail(conditions.error());
  auto made = make_arms(o);
  if (!made) return fail(made.error());
  std::vector<ComparedArm>& arms = *made;
  const machine::MachineSpec& machine = arms[0].machine;
  const Workload& workload = arms[0].workload;
  if (Status s = check_comms("--comm", o.table.comms, workload); !s) return fail(s.error());

  analysis::for_each_parallel(arms.size() * o.runs, jobs_of(o.common), [&](size_t i) {
    ComparedArm& arm = arms[i / o.runs];
    arm.runs[i % o.runs] = analysis::run_arm(
        {arm.machine, arm.kernel, o.common.seed + i % o.runs, {}}, arm.workload, false);
  });
  report::ComparisonColumns layout;
  std::vector<const report::TaskColumn*> columns;
  for (ComparedArm& arm : arms) {
    average(arm);
    layout.titles.push_back(arm.title);
    columns.push_back(&arm.mean);
    if (columns.size() > 1) layout.b.push_back(static_cast<int>(columns.size()) - 1);
  }
  report::RowOptions row_options = o.table.rows();
  if (o.common.json) row_options.most = SIZE_MAX;
  const auto rows = report::make_rows(workload, columns, row_options);

  if (!o.common.output.empty()) {
    analysis::RunFile file{.version = RUNQLAB_VERSION, .workload = o.workload};
    for (const ComparedArm& arm : arms) {
      file.arms.push_back(
          {arm.kernel.arm(), arm.machine, o.common.seed, arm.runs[0].result.state_hash});
    }
    if (Status s = analysis::write_run_file(o.common.output, file); !s) return fail(s.error());
  }

  const auto scenario = [&](const ComparedArm& arm) {
    return analysis::scenario_hash(arm.machine, arm.kernel, arm.workload, {}, o.common.seed);
  };
  if (o.common.json) {
    report::Json j = {{"runqlab", RUNQLAB_VERSION}, {"command", "compare"},
                      {"workload", o.workload},     {"machine", machine.name},
                      {"seed", o.common.seed},      {"runs", o.runs}};
    for (const ComparedArm& arm : arms) {
      report::Json runs = report::Json::array();
      for (const analysis::ArmRun& r : arm.runs) {
        runs.push_back(report::run_json(r.result, scenario(arm), arm.kernel));
        runs.back()["machine"] = arm.machine.name;
      }
      j["arms"][arm.title] = runs;
    }
    j["rows"] = report::rows_json(rows, layout);
    j["sentence"] = report::sentence(rows, layout);
    print_json(j);
  } else {
    for (const ComparedArm& arm : arms) {
      for (const std::string& u : arm.kernel.unknown) print_text("note: {}: {}\n", arm.title, u);
    }
    print_text("runqlab {} compare {}\n  machine     {}: {}\n", RUNQLAB_VERSION, o.workload,
               machine.name, machine.description);
    for (const ComparedArm& arm : arms) {
      print_text("  {:<10}  {}; scenario {}, state_hash {} (first of {} seeds from {})\n",
                 arm.title, arm_words(arm, machine), report::hex(scenario(arm)),
                 report::hex(arm.runs[0].result.state_hash), o.runs, o.common.seed);
    }
    print_text("\n{}", report::comparison_table(rows, layout));
    if (o.runs > 1) {
      print_text("Counts and times are means over {} seeds, latencies are pooled.\n", o.runs);
    }
    print_text("\n{}\n", report::sentence(rows, layout));
  }
  return check_conditions(*conditions, rows.back(), layout);
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand("compare", "A/B table of a workload");
  cmd->add_option("workload", o->workload, "NAME or NAME:param=value,… (list workloads)")
      ->required();
  add_common(*cmd, o->common);
  add_jobs(*cmd, o->common);
  add_arms(*cmd, o->arms, true);
  add_table(*cmd, o->table);
  cmd->add_option("--runs", o->runs, "seeds per arm, from --seed on; -o keeps the first")
      ->check(CLI::Range(1U, 10'000U))
      ->capture_default_str();
  cmd->callback([o, &exit_code] { exit_code = compare(*o); });
}

}  // namespace runqlab::cli
