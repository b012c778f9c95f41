// runqlab list — what can be named on the command line.
#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "report/text_table.h"
#include "sched/state/tunables.h"
#include "workload/models/models.h"

namespace runqlab::cli {
namespace {

struct Options {
  std::string what;
  CommonOptions common;
};

void list_machines() {
  for (const std::string& name : machine::preset_names()) {
    const auto m = machine::load_machine(name);
    if (m) print_text("{:<20} {}\n", name, m->description);
  }
  print_text("Also: the path of a machine TOML file, or an hwloc synthetic string.\n");
}

void list_kernels() {
  for (const sched::KernelInfo& k : sched::kernel_table())
    print_text("{:<10} {}\n", k.name, k.what);
  print_text(
      "Releases between these take the changes dated by release (list features); others "
      "take the nearest and say so.\n");
}

void list_features() {
  report::TextTable table({"feature", "on by default", "what it means", "source"}, 4);
  for (const sched::FeatureInfo& f : sched::feature_table()) {
    std::string when;
    for (const sched::FeatureChange& c : f.changes) {
      if (c.version.major == 0) continue;
      when += (when.empty() ? "" : ", ") + std::string(c.on ? "from " : "until ") +
              c.version.to_string();
    }
    if (when == "from 5.0") when = "always";
    table.add({std::string(f.name), when.empty() ? "never" : when, std::string(f.what),
               std::string(f.source)});
  }
  print_text("{}\n", table.print());
  report::TextTable tunables({"tunable", "range", "what it means"}, 3);
  for (const sched::TunableInfo& t : sched::tunable_table()) {
    tunables.add({std::string(t.name), fmt::format("{}..{}", t.low, t.high), std::string(t.what)});
  }
  tunables.add({"preempt", "none|voluntary|full|lazy", "the preemption model"});
  print_text("{}", tunables.print());
}

void list_workloads() {
  for (const workload::ModelInfo& m : workload::model_table()) {
    print_text("{}\n  models      {}\n  leaves out  {}\n", m.name, m.models, m.leaves_out);
    for (const workload::ParamInfo& p : m.params) {
      print_text("  {:<10}  {} (default {})\n", p.name, p.what, p.default_value);
    }
  }
}

int list_costs(const Options& o) {
  const auto m = machine_of(o.common, o.common.machine.empty() ? "vm-2" : o.common.machine);
  if (!m) return fail(m.error());
  print_text("Costs of {} in nanoseconds:\n", m->name);
  for (const machine::CostInfo& c : machine::cost_table()) {
    const auto source = m->cost_sources.find(c.name);
    const bool set = source != m->cost_sources.end();
    print_text("{:<20} {:>8}  {:<16} {}\n{:<47} {}\n", c.name, (m->costs.*c.field).ns(),
               set ? fmt::format("{}..{}", source->second.low_ns, source->second.high_ns)
                   : fmt::format("{}..{}", c.low_ns, c.high_ns),
               c.what, "", set ? source->second.text : "assumed");
  }
  return kOk;
}

int list(const Options& o) {
  if (o.what == "machines") list_machines();
  if (o.what == "kernels") list_kernels();
  if (o.what == "features") list_features();
  if (o.what == "workloads") list_workloads();
  if (o.what == "costs") return list_costs(o);
  return kOk;
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  CLI::App* cmd = app.add_subcommand("list", "machines, kernels, features, workloads or costs");
  cmd->add_option("what", o->what)
      ->required()
      ->check(CLI::IsMember({"machines", "kernels", "features", "workloads", "costs"}));
  cmd->add_option("--machine", o->common.machine, "costs of this machine (default vm-2)");
  cmd->add_option("--cost", o->common.costs, "NAME=VALUE: one cost set");
  cmd->callback([o, &exit_code] { exit_code = list(*o); });
}

}  // namespace runqlab::cli
