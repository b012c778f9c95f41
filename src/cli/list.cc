// runqlab list — what can be named on the command line.
#include <fmt/core.h>

#include <optional>

#include "cli/arm.h"
#include "cli/commands.h"
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

// What the rules of `k` have that those of `before` have not, as words of an arm.
std::string news(const sched::KernelConfig& k, const sched::KernelConfig& before) {
  std::string s;
  for (const sched::FeatureInfo& f : sched::feature_table()) {
    if (k.features.*f.field == before.features.*f.field) continue;
    s += (s.empty() ? "" : ", ") + std::string(k.features.*f.field ? "" : "NO_") +
         std::string(f.name);
  }
  return s;
}

int list_kernels() {
  report::TextTable table({"kernel", "base slice ns", "preempt", "changes of default"}, 4);
  std::optional<sched::KernelConfig> release;  // the last one listed
  for (const sched::KernelInfo& k : sched::kernel_table()) {
    const auto config = sched::kernel_of(k.name);
    if (!config) return fail(config.error());
    std::string what = release ? news(*config, *release) : "";
    if (!k.origin.empty()) {
      what = fmt::format("{}; beside {}: {}", k.origin, release->kernel, what);
    }
    table.add({std::string(k.name), std::to_string(config->base_slice_unscaled.ns()),
               std::string(to_string(config->tunables.preempt)), what});
    if (k.origin.empty()) release = *config;
  }
  print_text(
      "{}\nThe base slice is before scaling: it is multiplied by 1 + log2 of the number of CPUs "
      "(at "
      "most 8).\nOf another patch level of these releases only the release is known, and of "
      "another "
      "release the nearest of these; the output then says so.\n",
      table.print());
  return kOk;
}

int list_features(const Options& o) {
  const auto base = base_arm(o.common, kDefaultMachine);
  if (!base) return fail(base.error());
  const sched::KernelConfig& k = base->kernel;
  for (const std::string& u : k.unknown) print_text("note: {}\n", u);
  const std::string here = "in " + k.arm();
  report::TextTable table({"feature", here, "by default", "what it means", "where in the kernel"},
                          5);
  for (const sched::FeatureInfo& f : sched::feature_table()) {
    std::string when;
    for (const sched::FeatureChange& c : f.changes) {
      if (c.version.major == 0) continue;
      when += (when.empty() ? "" : ", ") + std::string(c.on ? "from " : "until ") +
              c.version.to_string();
    }
    if (when == "from 5.0") when = "always";
    table.add({std::string(f.name), k.features.*f.field ? "on" : "off",
               when.empty() ? "never" : when, std::string(f.what), std::string(f.source)});
  }
  print_text(
      "{}\nFunctions are those of kernel/sched, hexadecimal numbers commits of mainline Linux.\n\n",
      table.print());
  report::TextTable tunables({"tunable", here, "range", "what it means"}, 4);
  for (const sched::TunableInfo& t : sched::tunable_table()) {
    std::string value =
        std::to_string(t.time != nullptr ? (k.tunables.*t.time).ns() : k.tunables.*t.number);
    if (t.time == &sched::Tunables::base_slice_ns && value == "0") {
      value = fmt::format("{} × (1 + log2 CPUs, at most 8)", k.base_slice_unscaled.ns());
    }
    tunables.add(
        {std::string(t.name), value, fmt::format("{}..{}", t.low, t.high), std::string(t.what)});
  }
  tunables.add({"preempt", std::string(to_string(k.tunables.preempt)), "none|voluntary|full|lazy",
                "the preemption model; lazy from 6.13"});
  print_text("{}\nBeside these, machine=NAME runs an arm on another machine (list machines).\n",
             tunables.print());
  return kOk;
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
  const auto m =
      machine_of(o.common, o.common.machine.empty() ? kDefaultMachine : o.common.machine);
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
  if (o.what == "kernels") return list_kernels();
  if (o.what == "features") return list_features(o);
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
  cmd->add_option("--kernel", o->common.kernel, "features and tunables of this arm (default 6.18)");
  cmd->callback([o, &exit_code] { exit_code = list(*o); });
}

}  // namespace runqlab::cli
