// runqlab replay TRACE — a recording re-run.
#include "cli/commands.h"
#include "cli/replay_run.h"

namespace runqlab::cli {

void add_replay(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<ReplayCommand>();
  CLI::App* cmd =
      app.add_subcommand("replay", "what-if on a recording; prints the self-check first");
  cmd->add_option("trace", o->trace, "perf script or ftrace/trace-cmd text, plain or .gz .xz .zst")
      ->required();
  add_common(*cmd, o->common);
  add_jobs(*cmd, o->common);
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
  cmd->footer(
      "Each arm is run once: a replay is deterministic, and seeds move only the few draws that the "
      "kernel itself makes at random. So there is no --runs.");
  cmd->callback([o, &exit_code] { exit_code = ReplayRun(*o).execute(); });
}

}  // namespace runqlab::cli
