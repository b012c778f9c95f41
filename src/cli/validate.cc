// runqlab validate FILE… — recorded decisions, decided again by the model.
#include "analysis/preempt_rows.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "report/json.h"

namespace runqlab::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string kernel;
  std::string machine;
  bool json = false;
};

std::string share(const analysis::PreemptTally& t) {
  if (t.decided() == 0) return "-";
  const uint64_t permyriad = t.equal * 10000 / t.decided();
  return fmt::format("{}.{:02}", permyriad / 100, permyriad % 100);
}

void print_row(const std::string& name, const analysis::PreemptTally& t) {
  print_text("{:>7} {:>7} {:>7} {:>7}  {:>6} {:>7} {:>9} {:>8} {:>8}  {:>10} {:>11}  {}\n", t.rows,
             t.decided(), t.equal, share(t), t.third_task, t.groups, t.uncharged, t.open_end,
             t.curr_left, t.only_model, t.only_kernel, name);
}

report::Json to_json(const analysis::PreemptTally& t) {
  return {{"rows", t.rows},
          {"decided", t.decided()},
          {"equal", t.equal},
          {"undecided",
           {{"third_task", t.third_task},
            {"groups", t.groups},
            {"uncharged", t.uncharged},
            {"open_end", t.open_end},
            {"curr_left", t.curr_left}}},
          {"only_model_preempts", t.only_model},
          {"only_kernel_preempted", t.only_kernel}};
}

int validate(const Options& o) {
  const auto kernel = sched::kernel_of(o.kernel);
  if (!kernel) return fail(kernel.error());
  const auto machine = machine::load_machine(o.machine);
  if (!machine) return fail(machine.error());
  analysis::PreemptTally total;
  report::Json files = report::Json::array();
  if (!o.json) {
    print_text("  kernel {}, slices scaled for {} CPUs\n\n", kernel->arm(),
               machine->topology.nr_cpus());
    print_text(
        "   rows decided   equal equal %   third  groups uncharged     open  leaving  only model "
        "only "
        "kernel  "
        "preemption checks of\n");
  }
  for (const std::string& file : o.files) {
    const auto t = analysis::decide_preempt_rows(file, *kernel, machine->topology.nr_cpus());
    if (!t) return fail(t.error());
    total.add(*t);
    if (o.json) {
      files.push_back(to_json(*t));
      files.back()["file"] = file;
    } else {
      print_row(file, *t);
    }
  }
  if (o.json) {
    print_text("{}\n", report::Json{{"preempt", to_json(total)}, {"files", files}}.dump(2));
  } else {
    if (o.files.size() > 1) print_row("all", total);
    print_text(
        "\nundecided, as the row does not hold it: third: another task was queued whose deadline "
        "counts;\ngroups: the two were on queues of different cgroups; uncharged: the outcome "
        "hangs "
        "on what\ncurr had run since it was last charged; open: a fork or pull, after which the "
        "recording took any "
        "later\nrequest for the check's; leaving: curr had left the queue\n");
  }
  return kOk;
}

}  // namespace

void add_validate(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "validate", "recorded decisions, decided again: how many come out as recorded");
  auto o = std::make_shared<Options>();
  command->add_option("FILE", o->files, "CSV of wakeup-preemption checks, packed or not")
      ->required();
  command->add_option("--kernel", o->kernel, "the recorded kernel")->required();
  command->add_option("--machine", o->machine, "the recorded machine: its CPU count scales slices")
      ->required();
  command->add_flag("--json", o->json, "print JSON instead of text");
  command->callback([o, &exit_code] { exit_code = validate(*o); });
}

}  // namespace runqlab::cli
