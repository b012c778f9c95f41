// From the command line to the rows of the tables.
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>

#include "analysis/run_file.h"
#include "base/numbers.h"
#include "base/suggest.h"
#include "cli/output.h"
#include "cli/replay_run.h"
#include "sim/limits.h"

namespace runqlab::cli {
namespace {

constexpr size_t kChangedShown = 10;

template <class E>
E choose(const std::string& word, std::initializer_list<std::pair<std::string_view, E>> words) {
  for (const auto& [text, value] : words) {
    if (text == word) return value;
  }
  return words.begin()->second;  // the parser has checked the word
}

Result<trace::ReplayOptions> replay_options(const ReplayCommand& o) {
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
    if (eq == std::string::npos || eq == 0 || eq + 1 == a.size() ||
        !parse_cpu_list(std::string_view(a).substr(eq + 1), [](uint32_t, uint32_t) {})) {
      return Error{.message = "--affinity takes COMM=CPULIST",
                   .token = a,
                   .hint = "for example 'nginx=0-3,8'"};
    }
    if (!r.affinity.emplace(a.substr(0, eq), a.substr(eq + 1)).second) {
      return Error{.message = "--affinity is given twice for one comm", .token = a};
    }
  }
  return r;
}

// What --affinity says exists: the tasks, and all of the CPUs.
Status check_affinity(const trace::ReplayOptions& o, const Workload& w, size_t nr_cpus) {
  for (const auto& [comm, list] : o.affinity) {
    if (Status s = check_comms("--affinity", {comm}, w); !s) return s;
    uint32_t last_cpu = 0;
    parse_cpu_list(list, [&](uint32_t, uint32_t last) { last_cpu = std::max(last_cpu, last); });
    if (last_cpu >= nr_cpus) {
      return Error{.message = fmt::format("--affinity: the machine has CPUs 0-{}", nr_cpus - 1),
                   .token = comm + '=' + list};
    }
  }
  return Ok{};
}

// A pipe is empty after its first reader.
bool is_pipe(const std::string& path) {
  struct stat s{};
  return stat(path.c_str(), &s) == 0 && (S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode));
}

// Without --machine: one cache, no SMT, as many CPUs as the recording shows.
Result<std::string> machine_name(const ReplayCommand& o, const trace::ReplayOptions& window,
                                 std::string& note) {
  if (!o.common.machine.empty()) return o.common.machine;
  if (is_pipe(o.trace)) {
    return Error{.message = "without --machine the recording is read twice, and this is a pipe",
                 .file = o.trace,
                 .hint = "say --machine, or put the recording into a file"};
  }
  StringPool names;
  Diagnostics ignored;
  const trace::ImportOptions import{.from_ns = window.from_ns, .to_ns = window.to_ns};
  auto summary = trace::import_file(o.trace, import, names, ignored, [](const trace::Event&) {});
  if (!summary) return summary.error();
  note = fmt::format("  assumed     no --machine: {} CPUs, one cache, no SMT, assumed costs\n",
                     summary->nr_cpus);
  return fmt::format("pack:1 l3:1 core:{} pu:1", std::max(1U, summary->nr_cpus));
}

Result<std::vector<ReplayArm>> make_arms(const ReplayCommand& o, const std::string& machine,
                                         std::string& note) {
  auto self = base_arm(o.common, machine);
  if (!self) return self.error();
  if (o.common.kernel.empty()) {
    note += fmt::format("  assumed     the file does not name its kernel: {} (say --kernel)\n",
                        self->kernel.arm());
  }
  std::vector<ReplayArm> arms;
  arms.push_back({*self});
  if (!o.arms.a.empty()) {
    arms[0].title = "re-run";
    auto a = parse_arm("A", o.arms.a, *self);
    if (!a) return a.error();
    arms.push_back({std::move(*a)});
  }
  auto others = b_arms(o.arms, arms.back());
  if (!others) return others.error();
  for (Arm& b : *others) arms.push_back({std::move(b)});
  return arms;
}

}  // namespace

Status ReplayRun::load() {
  const auto options = replay_options(o_);
  if (!options) return options.error();
  if (Status s = check_output(o_.common, o_.trace); !s) return s;
  const auto name = machine_name(o_, *options, note_);
  if (!name) return name.error();
  auto arms = make_arms(o_, *name, note_);
  if (!arms) return arms.error();
  arms_ = std::move(*arms);
  a_ = o_.arms.a.empty() ? 0 : 1;

  analysis::MetricsSink recorded;
  auto replay = trace::load_replay(o_.trace, recorded_on(), *options, recorded, diagnostics_);
  if (!replay) return replay.error();
  replay_ = std::move(*replay);
  const size_t nr_cpus = recorded_on().topology.nr_cpus();
  if (replay_.nr_cpus > nr_cpus) {
    return Error{.message = fmt::format("the recording has {} CPUs, the machine {}",
                                        replay_.nr_cpus, nr_cpus),
                 .file = o_.trace,
                 .hint =
                     "--machine is the one of the recording; another one to run on is said in "
                     "an arm: --b machine=NAME"};
  }
  for (const ReplayArm& arm : arms_) {
    if (Status s = sim::check_limits(arm.machine, replay_.workload); !s) return s;
  }
  if (Status s = check_affinity(*options, replay_.workload, nr_cpus); !s) return s;
  if (Status s = check_comms("--comm", o_.table.comms, replay_.workload); !s) return s;
  recorded.finish(SimTime{} + replay_.span);
  recorded_ = recorded.tasks();
  recorded_.resize(replay_.workload.tasks.size());
  return Ok{};
}

bool ReplayRun::doubtful() const {
  return diagnostics_.total(Severity::repair) != 0 || diagnostics_.total(Severity::skipped) != 0 ||
         std::any_of(arms_.begin(), arms_.end(),
                     [](const ReplayArm& arm) { return !arm.kernel.unknown.empty(); });
}

void ReplayRun::simulate() {
  analysis::for_each_parallel(arms_.size(), jobs_of(o_.common), [&](size_t i) {
    arms_[i].run =
        analysis::run_arm({arms_[i].machine, arms_[i].kernel, o_.common.seed, replay_.tracing},
                          replay_.workload, true);
  });
}

Status ReplayRun::tabulate() {
  std::vector<const report::TaskColumn*> columns = {&recorded_};
  for (const ReplayArm& arm : arms_) {
    columns.push_back(&arm.run.tasks);
    layout_.titles.push_back(arm.title);
  }
  layout_.a = static_cast<int>(a_) + 1;
  for (size_t i = a_ + 1; i < arms_.size(); ++i) layout_.b.push_back(static_cast<int>(i) + 1);
  report::RowOptions options = o_.table.rows();
  if (o_.common.json) options.most = SIZE_MAX;
  rows_ = report::make_rows(replay_.workload, columns, options);
  if (rows_.empty()) {
    return Error{.message = "no task runs in the recording", .file = o_.trace};
  }
  check_ = report::self_check(replay_.workload, recorded_, arms_[0].run.tasks);
  if (!layout_.b.empty()) {
    changed_ = analysis::changed_placements(arms_[a_].run.decisions, arms_[a_ + 1].run.decisions,
                                            kChangedShown, total_changed_);
  }
  return Ok{};
}

Status ReplayRun::write_run() const {
  analysis::RunFile file{
      .version = RUNQLAB_VERSION, .arms = {}, .replay = replay_, .workload = o_.trace};
  for (const ReplayArm& arm : arms_) {
    file.arms.push_back({arm.kernel.arm(), arm.machine, o_.common.seed, arm.run.result.state_hash});
  }
  return analysis::write_run_file(o_.common.output, file);
}

int ReplayRun::execute() {
  const auto conditions = parse_fail_ifs(o_.arms.fail_if);
  if (!conditions) return fail(conditions.error());
  if (!conditions->empty() && o_.arms.b.empty()) {
    return fail({.message = "--fail-if compares A with B", .hint = "give --b"});
  }
  if (Status s = load(); !s) return fail(s.error());
  if (o_.common.strict && doubtful()) {
    print_error("{}", head());
    return fail({.message = "--strict: the recording was repaired, or rules are not known",
                 .file = o_.trace});
  }
  simulate();
  if (Status s = tabulate(); !s) return fail(s.error());
  if (!o_.common.output.empty()) {
    if (Status s = write_run(); !s) return fail(s.error());
  }
  if (o_.common.json) {
    show_json();
  } else {
    show_text();
  }
  return check_conditions(*conditions, rows_.back(), layout_);
}

}  // namespace runqlab::cli
