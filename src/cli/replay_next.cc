// What `runqlab replay` proposes to do next: commands to copy.
#include <fmt/core.h>

#include <algorithm>

#include "base/printable.h"
#include "cli/replay_run.h"
#include "report/decisions.h"

namespace runqlab::cli {
namespace {

// From a last-level cache of this size on it matters how far the idle search goes.
constexpr size_t kWideCache = 8;

size_t widest_cache(const machine::Topology& t) {
  std::vector<size_t> cpus(t.nr_cpus());
  size_t widest = 0;
  for (size_t i = 0; i < t.nr_cpus(); ++i) {
    widest = std::max(widest, ++cpus[t.cpu(CpuId::of(i)).llc.index()]);
  }
  return widest;
}

}  // namespace

// Arms that change what replayed work can show (it is all user mode, so preemption models hardly
// matter), and that no arm of this call had.
std::vector<std::string> ReplayRun::next_arms() const {
  constexpr size_t kShown = 2;
  const Arm& a = arms_[a_];
  std::vector<std::string> candidates = {"NO_WAKEUP_PREEMPTION"};
  if (widest_cache(a.machine.topology) >= kWideCache) candidates.emplace_back("NO_SIS_UTIL");
  const bool old = a.kernel.version < sched::Version{6, 18};
  candidates.insert(candidates.end(), {old ? "6.18" : "6.12", "base_slice_ns=10ms",
                                       "NO_RUN_TO_PARITY", "NO_DELAY_DEQUEUE", "7.1"});
  std::vector<std::string> out;
  for (const std::string& text : candidates) {
    const auto arm = parse_arm("", text, a);
    const auto had = [&](const ReplayArm& other) {
      return arm->kernel.identity() == other.kernel.identity() &&
             same_machine(arm->machine, other.machine);
    };
    if (!arm || std::any_of(arms_.begin(), arms_.end(), had)) continue;
    out.push_back(text);
    if (out.size() == kShown) break;
  }
  return out;
}

// This call without its arms beside A, its tables and its outputs.
std::string ReplayRun::same_replay() const {
  const ReplayCommand defaults;
  std::string s = "runqlab replay " + shell_word(o_.trace);
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) s += fmt::format(" {} {}", option, shell_word(value));
  };
  add("--machine", o_.common.machine);
  add("--kernel", o_.common.kernel);
  for (const std::string& cost : o_.common.costs) add("--cost", cost);
  if (o_.common.seed != defaults.common.seed) add("--seed", std::to_string(o_.common.seed));
  add("--time", o_.time);
  if (o_.irq_wakeups != defaults.irq_wakeups) add("--irq-wakeups", o_.irq_wakeups);
  if (o_.sync_hint != defaults.sync_hint) add("--sync-hint", o_.sync_hint);
  if (o_.cost_correction != defaults.cost_correction) {
    add("--cost-correction", std::to_string(o_.cost_correction));
  }
  for (const std::string& affinity : o_.affinity) add("--affinity", affinity);
  add("--a", o_.arms.a);
  return s;
}

std::string ReplayRun::next_commands() const {
  std::string s = "Try next:\n";
  const auto add = [&](std::string_view what, std::string_view command) {
    s += fmt::format("  {:<22}  {}\n", what, command);
  };
  if (!changed_.empty()) {
    const bool stored = !o_.common.output.empty();
    const std::string explain = fmt::format(
        "runqlab explain {} --task {} --wakeup {}", stored ? shell_word(o_.common.output) : "RUN",
        shell_word(report::task_name(replay_.workload, changed_[0].a->task)),
        changed_[0].a->ordinal);
    add("why that CPU", stored ? explain : "this command again with -o RUN, then");
    if (!stored) add("", explain);
  }
  std::string other = same_replay();
  for (const std::string& arm : next_arms()) other += " --b " + arm;
  add("what else would change", other);
  add("all that can change", "runqlab list features");
  return s;
}

}  // namespace runqlab::cli
