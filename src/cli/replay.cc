// runqlab replay TRACE — a recording re-run: the self-check first, then A against B.
#include <fmt/core.h>

#include <algorithm>

#include "analysis/arm_run.h"
#include "analysis/run_file.h"
#include "analysis/scenario.h"
#include "base/numbers.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "report/comparison.h"
#include "report/decisions.h"
#include "report/json.h"
#include "report/self_check.h"
#include "trace/replay.h"

namespace runqlab::cli {
namespace {

constexpr std::string_view kAssumedKernel = "6.18";
constexpr size_t kChangedShown = 10;

struct Options {
  CommonOptions common;
  ArmOptions arms;
  TableOptions table;
  std::string trace;
  std::string time;
  std::string irq_wakeups = "inferred";
  std::string sync_hint = "inferred";
  int cost_correction = 100;
  std::vector<std::string> affinity;
};

// One simulated column.
struct Arm {
  std::string title;
  sched::KernelConfig kernel;
  analysis::ArmRun run{};
};

template <class E>
E choose(const std::string& word, std::initializer_list<std::pair<std::string_view, E>> words) {
  for (const auto& [text, value] : words) {
    if (text == word) return value;
  }
  return words.begin()->second;  // the parser has checked the word
}

Result<trace::ReplayOptions> replay_options(const Options& o) {
  trace::ReplayOptions r;
  if (!o.time.empty()) {
    // As perf's --time: either end may be left out.
    const size_t comma = o.time.find(',');
    const std::string from = o.time.substr(0, comma);
    const std::string to = comma == std::string::npos ? "" : o.time.substr(comma + 1);
    const auto start = from.empty() ? std::optional<int64_t>(0) : parse_seconds(from);
    const auto stop = to.empty() ? std::optional<int64_t>(INT64_MAX) : parse_seconds(to);
    if (!start || !stop || *start >= *stop) {
      return Error{.message = "--time takes START,STOP in seconds of the recording's clock",
                   .token = o.time};
    }
    r.from_ns = *start;
    r.to_ns = *stop;
  }
  r.irq_wakeups =
      choose<trace::IrqWakeups>(o.irq_wakeups, {{"inferred", trace::IrqWakeups::inferred},
                                                {"relative", trace::IrqWakeups::relative},
                                                {"absolute", trace::IrqWakeups::absolute}});
  r.sync_hint = choose<trace::SyncHint>(o.sync_hint, {{"inferred", trace::SyncHint::inferred},
                                                      {"always", trace::SyncHint::always},
                                                      {"never", trace::SyncHint::never}});
  r.cost_correction_pct = o.cost_correction;
  for (const std::string& a : o.affinity) {
    const size_t eq = a.rfind('=');
    if (eq == std::string::npos || eq == 0 ||
        !parse_cpu_list(std::string_view(a).substr(eq + 1), [](uint32_t, uint32_t) {})) {
      return Error{.message = "--affinity takes COMM=CPULIST", .token = a};
    }
    r.affinity[a.substr(0, eq)] = a.substr(eq + 1);
  }
  return r;
}

// Without --machine: one cache, no SMT, as many CPUs as the recording shows.
Result<std::string> machine_name(const Options& o, const trace::ReplayOptions& window,
                                 std::string& note) {
  if (!o.common.machine.empty()) return o.common.machine;
  StringPool names;
  Diagnostics ignored;
  const trace::ImportOptions import{.from_ns = window.from_ns, .to_ns = window.to_ns};
  auto summary = trace::import_file(o.trace, import, names, ignored, [](const trace::Event&) {});
  if (!summary) return summary.error();
  note = fmt::format("  assumed     no --machine: {} CPUs, one cache, no SMT, assumed costs\n",
                     summary->nr_cpus);
  return fmt::format("pack:1 l3:1 core:{} pu:1", std::max(1U, summary->nr_cpus));
}

Result<std::vector<Arm>> make_arms(const Options& o, std::string& note) {
  std::string recorded = o.common.kernel;
  if (recorded.empty()) {
    recorded = kAssumedKernel;
    note += fmt::format("  assumed     the file does not name its kernel: {} (say --kernel)\n",
                        recorded);
  }
  auto base = sched::kernel_of(kAssumedKernel);
  if (!base) return base.error();
  auto self = sched::parse_arm(recorded, *base);
  if (!self) return self.error();
  std::vector<Arm> arms;
  sched::KernelConfig a = *self;
  if (o.arms.a.empty()) {
    arms.push_back({"A", *self});
  } else {
    auto changed = sched::parse_arm(o.arms.a, *self);
    if (!changed) return changed.error();
    a = std::move(*changed);
    arms.push_back({"re-run", *self});
    arms.push_back({"A", a});
  }
  char title = 'B';
  for (const std::string& text : o.arms.b) {
    auto b = sched::parse_arm(text, a);
    if (!b) return b.error();
    arms.push_back({std::string(1, title++), *b});
  }
  return arms;
}

// Everything that one call works out, in the order of its steps.
class ReplayRun {
 public:
  explicit ReplayRun(const Options& o) : o_(o) {}

  // Input, runs, output; the exit code.
  int execute();

 private:
  Status load();
  void simulate();
  Status tabulate();
  Status write_run() const;
  [[nodiscard]] bool doubtful() const;
  [[nodiscard]] uint64_t scenario(const Arm& arm) const {
    return analysis::scenario_hash(machine_, arm.kernel, replay_.workload, replay_.tracing,
                                   o_.common.seed);
  }
  [[nodiscard]] std::string head() const;
  [[nodiscard]] std::string next_commands() const;
  void print_text() const;
  void print_json() const;

  const Options& o_;
  std::string note_;
  machine::MachineSpec machine_;
  std::vector<Arm> arms_;  // the re-run of the recorded kernel first
  size_t a_ = 0;           // index of arm A
  Diagnostics diagnostics_;
  trace::Replay replay_;
  report::TaskColumn recorded_;
  std::vector<report::Row> rows_;
  report::ComparisonColumns layout_{.titles = {"recorded"}, .recorded = 0, .self_check = 1};
  report::SelfCheck check_;
  std::vector<analysis::ChangedPlacement> changed_;
  uint64_t total_changed_ = 0;
  std::string run_name_;
};

Status ReplayRun::load() {
  const auto options = replay_options(o_);
  if (!options) return options.error();
  const auto name = machine_name(o_, *options, note_);
  if (!name) return name.error();
  auto machine = machine_of(o_.common, *name);
  if (!machine) return machine.error();
  machine_ = std::move(*machine);
  auto arms = make_arms(o_, note_);
  if (!arms) return arms.error();
  arms_ = std::move(*arms);
  a_ = o_.arms.a.empty() ? 0 : 1;

  analysis::MetricsSink recorded;
  auto replay = trace::load_replay(o_.trace, machine_, *options, recorded, diagnostics_);
  if (!replay) return replay.error();
  replay_ = std::move(*replay);
  if (replay_.nr_cpus > machine_.topology.nr_cpus()) {
    return Error{.message = fmt::format("the recording has {} CPUs, the machine {}",
                                        replay_.nr_cpus, machine_.topology.nr_cpus()),
                 .file = o_.trace,
                 .hint = "choose a --machine with at least as many"};
  }
  recorded.finish(SimTime{} + replay_.span);
  recorded_ = recorded.tasks();
  recorded_.resize(replay_.workload.tasks.size());
  return Ok{};
}

bool ReplayRun::doubtful() const {
  return diagnostics_.total(Severity::repair) != 0 || diagnostics_.total(Severity::skipped) != 0 ||
         std::any_of(arms_.begin(), arms_.end(),
                     [](const Arm& arm) { return !arm.kernel.unknown.empty(); });
}

void ReplayRun::simulate() {
  analysis::for_each_parallel(arms_.size(), jobs_of(o_.common), [&](size_t i) {
    arms_[i].run = analysis::run_arm({machine_, arms_[i].kernel, o_.common.seed, replay_.tracing},
                                     replay_.workload, true);
  });
}

Status ReplayRun::tabulate() {
  std::vector<const report::TaskColumn*> columns = {&recorded_};
  for (const Arm& arm : arms_) {
    columns.push_back(&arm.run.tasks);
    layout_.titles.push_back(arm.title);
  }
  layout_.a = static_cast<int>(a_) + 1;
  for (size_t i = a_ + 1; i < arms_.size(); ++i) layout_.b.push_back(static_cast<int>(i) + 1);
  report::RowOptions options = o_.table.rows();
  if (o_.common.json) options.most = SIZE_MAX;
  rows_ = report::make_rows(replay_.workload, columns, options);
  if (rows_.empty()) {
    return Error{.message = "no task of the recording has the comm of --comm", .file = o_.trace};
  }
  check_ = report::self_check(replay_.workload, recorded_, arms_[0].run.tasks);
  if (!layout_.b.empty()) {
    changed_ = analysis::changed_placements(arms_[a_].run.decisions, arms_[a_ + 1].run.decisions,
                                            kChangedShown, total_changed_);
  }
  return Ok{};
}

Status ReplayRun::write_run() const {
  analysis::RunFile file{.version = RUNQLAB_VERSION,
                         .machine = machine_,
                         .arms = {},
                         .replay = replay_,
                         .workload = o_.trace};
  for (const Arm& arm : arms_) {
    file.arms.push_back({arm.kernel.arm(), o_.common.seed, arm.run.result.state_hash});
  }
  return analysis::write_run_file(o_.common.output, file);
}

std::string ReplayRun::head() const {
  const trace::ReplayCounts& c = replay_.counts;
  std::string s;
  for (const Arm& arm : arms_) {
    for (const std::string& u : arm.kernel.unknown) {
      s += fmt::format("note: {}: {}\n", arm.title, u);
    }
  }
  s += fmt::format("runqlab {} replay {}\n", RUNQLAB_VERSION, o_.trace);
  s += fmt::format("  recording   {}, {} events, {} CPUs, {:.1f} ms, {} tasks\n",
                   to_string(replay_.import.format), replay_.import.events, replay_.nr_cpus,
                   static_cast<double>(replay_.span.ns()) / 1e6, c.tasks);
  s += fmt::format("  machine     {}: {}\n", machine_.name, machine_.description);
  for (const Arm& arm : arms_) {
    s += fmt::format("  {:<10}  {}\n", arm.title, kernel_words(arm.kernel));
  }
  s += fmt::format(
      "  wakeups     {} by tasks, {} in softirqs of a task's send, {} own timers and {} on a "
      "clock, {} own requests, "
      "{} from outside; {} ended no block; {} answers hidden by preemption put back\n",
      c.task_edges, c.softirq_edges, c.timers, c.periodic, c.requests, c.arrivals, c.not_blocked,
      c.rendezvous);
  s += note_;
  s += fmt::format(
      "  assumed     modelled costs taken out of the bursts at {} % (--cost-correction), {} pieces "
      "were shorter than theirs\n"
      "  assumed     WF_SYNC {} (--sync-hint); {} tasks pinned (--affinity)\n",
      o_.cost_correction, c.clamped, o_.sync_hint, c.inferred_pinned);
  s += warnings(diagnostics_);
  return s;
}

std::string ReplayRun::next_commands() const {
  const std::string machine = o_.common.machine.empty() ? "" : " --machine " + o_.common.machine;
  const std::string kernel = o_.common.kernel.empty() ? "" : " --kernel " + o_.common.kernel;
  const std::string explain =
      changed_.empty() ? " --task COMM-PID --wakeup 0"
                       : fmt::format(" --task {} --wakeup {}",
                                     report::task_name(replay_.workload, changed_[0].a->task),
                                     changed_[0].a->ordinal);
  return fmt::format(
      "Try next{}:\n"
      "  runqlab explain {}{}\n"
      "  runqlab replay {}{}{} --b preempt=full\n"
      "  runqlab list features\n",
      o_.common.output.empty() ? " (write the run file first: -o RUN)" : "", run_name_, explain,
      o_.trace, machine, kernel);
}

void ReplayRun::print_text() const {
  fmt::print("{}\nSelf-check: the recorded kernel and machine, re-run freely\n{}", head(),
             report::self_check_text(check_));
  for (const Arm& arm : arms_) {
    const sim::RunResult& r = arm.run.result;
    fmt::print("  run {:<14}  state_hash {}, scenario {}, seed {}, {} events; {}\n", arm.title,
               report::hex(r.state_hash), report::hex(scenario(arm)), o_.common.seed, r.events,
               sim::to_string(r.end));
  }
  fmt::print("\n{}\n", report::comparison_table(rows_, layout_));
  if (!layout_.b.empty()) {
    fmt::print("{}\n", report::changed_list(replay_.workload, changed_, total_changed_, run_name_));
  }
  fmt::print("{}", next_commands());
  if (!layout_.b.empty()) fmt::print("\n{}\n", report::sentence(rows_, layout_));
}

void ReplayRun::print_json() const {
  const trace::ReplayCounts& c = replay_.counts;
  report::Json j = {
      {"runqlab", RUNQLAB_VERSION}, {"command", "replay"},
      {"trace", o_.trace},          {"machine", machine_.name},
      {"seed", o_.common.seed},     {"state_hash", report::hex(arms_[a_].run.result.state_hash)}};
  j["recording"] = {{"format", to_string(replay_.import.format)},
                    {"events", replay_.import.events},
                    {"cpus", replay_.nr_cpus},
                    {"span_ns", replay_.span.ns()},
                    {"tasks", c.tasks},
                    {"task_edges", c.task_edges},
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
  for (const Arm& arm : arms_) {
    j["arms"][arm.title] = report::run_json(arm.run.result, scenario(arm), arm.kernel);
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
  fmt::print("{}\n", j.dump(2));
}

int ReplayRun::execute() {
  const auto conditions = parse_fail_ifs(o_.arms.fail_if);
  if (!conditions) return fail(conditions.error());
  if (!conditions->empty() && o_.arms.b.empty()) {
    return fail({.message = "--fail-if compares A with B", .hint = "give --b"});
  }
  if (Status s = load(); !s) return fail(s.error());
  if (o_.common.strict && doubtful()) {
    fmt::print(stderr, "{}", head());
    return fail({.message = "--strict: the recording was repaired, or rules are not known",
                 .file = o_.trace});
  }
  run_name_ = o_.common.output.empty() ? "RUN" : o_.common.output;
  simulate();
  if (Status s = tabulate(); !s) return fail(s.error());
  if (!o_.common.output.empty()) {
    if (Status s = write_run(); !s) return fail(s.error());
  }
  if (o_.common.json) {
    print_json();
  } else {
    print_text();
  }
  return check_conditions(*conditions, rows_.back(), layout_);
}

}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  CLI::App* cmd =
      app.add_subcommand("replay", "what-if on a recording; prints the self-check first");
  cmd->add_option("trace", o->trace, "perf script or ftrace/trace-cmd text, plain or .gz .xz .zst")
      ->required();
  add_common(*cmd, o->common);
  add_arms(*cmd, o->arms, false);
  add_table(*cmd, o->table);
  cmd->add_option("--time", o->time, "START,STOP: only this window, in seconds of the recording");
  cmd->add_option("--irq-wakeups", o->irq_wakeups,
                  "wakeups by interrupts: relative to the sleeper's block, or at their time")
      ->check(CLI::IsMember({"inferred", "relative", "absolute"}))
      ->capture_default_str();
  cmd->add_option("--sync-hint", o->sync_hint, "WF_SYNC, which text formats do not carry")
      ->check(CLI::IsMember({"inferred", "always", "never"}))
      ->capture_default_str();
  cmd->add_option("--cost-correction", o->cost_correction,
                  "percent of the modelled costs to take out of the recorded bursts")
      ->check(CLI::Range(0, 200))
      ->capture_default_str();
  cmd->add_option("--affinity", o->affinity, "COMM=CPULIST instead of the inferred affinity");
  cmd->callback([o, &exit_code] { exit_code = ReplayRun(*o).execute(); });
}

}  // namespace runqlab::cli
