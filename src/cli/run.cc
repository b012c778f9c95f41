// runqlab run WORKLOAD — one run of a built-in workload.
#include "analysis/arm_run.h"
#include "analysis/run_file.h"
#include "analysis/scenario.h"
#include "cli/arm.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "report/json.h"
#include "report/metric.h"
#include "report/text_table.h"
#include "sim/limits.h"
#include "workload/models/models.h"

namespace runqlab::cli {
namespace {

struct Options {
  CommonOptions common;
  TableOptions table;
  std::string workload;
};

std::string rows_text(const std::vector<report::Row>& rows) {
  std::vector<std::string> head = {"task"};
  for (const report::Metric& m : report::metrics()) head.emplace_back(m.label);
  report::TextTable table(std::move(head), 1);
  for (const report::Row& row : rows) {
    std::vector<std::string> cells = {row.name};
    for (const report::Metric& m : report::metrics()) {
      cells.push_back(report::print_value(m, m.value(row.columns[0])));
    }
    table.add(std::move(cells));
  }
  return table.print();
}

int run(const Options& o) {
  const auto base = base_arm(o.common, kDefaultMachine);
  if (!base) return fail(base.error());
  const machine::MachineSpec& machine = base->machine;
  const sched::KernelConfig& kernel = base->kernel;
  if (o.common.strict && !kernel.unknown.empty()) {
    return fail({.message = "--strict: " + kernel.unknown.front()});
  }
  const auto workload = workload::build_workload(o.workload, machine.topology.nr_cpus());
  if (!workload) return fail(workload.error());
  if (Status s = check_comms("--comm", o.table.comms, *workload); !s) return fail(s.error());
  if (Status s = sim::check_limits(machine, *workload); !s) return fail(s.error());
  const analysis::ArmRun arm =
      analysis::run_arm({machine, kernel, o.common.seed, {}}, *workload, false);
  const uint64_t scenario = analysis::scenario_hash(machine, kernel, *workload, {}, o.common.seed);
  report::RowOptions row_options = o.table.rows();
  if (o.common.json) row_options.most = SIZE_MAX;
  const auto rows = report::make_rows(*workload, {&arm.tasks}, row_options);

  if (!o.common.output.empty()) {
    analysis::RunFile file{.version = RUNQLAB_VERSION, .workload = o.workload};
    file.arms.push_back({kernel.arm(), machine, o.common.seed, arm.result.state_hash});
    if (Status s = analysis::write_run_file(o.common.output, file); !s) return fail(s.error());
  }
  if (o.common.json) {
    report::Json j = {{"runqlab", RUNQLAB_VERSION},
                      {"command", "run"},
                      {"workload", o.workload},
                      {"machine", machine.name},
                      {"seed", o.common.seed}};
    j.update(report::run_json(arm.result, scenario, kernel));
    if (workload->operations != 0) j["operations"] = workload->operations;
    j["rows"] = report::rows_json(rows, {.titles = {"run"}});
    print_json(j);
    return arm.result.end == sim::RunEnd::livelock ? kFailed : kOk;
  }
  for (const std::string& u : kernel.unknown) print_text("note: {}\n", u);
  print_text("runqlab {} run {}\n  machine     {}: {}\n  kernel      {}\n", RUNQLAB_VERSION,
             o.workload, machine.name, machine.description, arm_words(*base, machine));
  print_text("  run         state_hash {}, scenario {}, seed {}, {} events; {}\n\n",
             report::hex(arm.result.state_hash), report::hex(scenario), o.common.seed,
             arm.result.events, sim::to_string(arm.result.end));
  print_text("{}", rows_text(rows));
  if (workload->operations != 0) {
    const double us = static_cast<double>(arm.result.finished.ns()) / 1e3;
    const auto ops = static_cast<double>(workload->operations);
    print_text(
        "\n     Total time: {:.3f} [sec]\n\n     {:>10.6f} usecs/op\n     {:>10.0f} ops/sec\n",
        us / 1e6, us / ops, ops * 1e6 / us);
  }
  return arm.result.end == sim::RunEnd::livelock ? kFailed : kOk;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand("run", "one run of a workload");
  cmd->add_option("workload", o->workload, "NAME or NAME:param=value,… (list workloads)")
      ->required();
  add_common(*cmd, o->common);
  add_table(*cmd, o->table);
  cmd->callback([o, &exit_code] { exit_code = run(*o); });
}

}  // namespace runqlab::cli
