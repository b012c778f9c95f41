// cli/replay_run.h — one call of `runqlab replay`: what it is asked, and what it works out.
#pragma once

#include <string>
#include <vector>

#include "analysis/arm_run.h"
#include "analysis/scenario.h"
#include "cli/arm.h"
#include "report/comparison.h"
#include "report/self_check.h"
#include "trace/replay.h"

namespace runqlab::cli {

struct ReplayCommand {
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
struct ReplayArm : Arm {
  analysis::ArmRun run{};
};

// Everything that one call works out, in the order of its steps.
class ReplayRun {
 public:
  explicit ReplayRun(const ReplayCommand& o) : o_(o) {}

  // Input, runs, output; the exit code.
  int execute();

 private:
  Status load();
  void simulate();
  Status tabulate();
  Status write_run() const;
  [[nodiscard]] bool doubtful() const;
  [[nodiscard]] uint64_t scenario(const ReplayArm& arm) const {
    return analysis::scenario_hash(arm.machine, arm.kernel, replay_.workload, replay_.tracing,
                                   o_.common.seed);
  }
  [[nodiscard]] std::string head() const;
  [[nodiscard]] std::string elsewhere() const;
  [[nodiscard]] std::string same_replay() const;
  [[nodiscard]] std::vector<std::string> next_arms() const;
  [[nodiscard]] std::string next_commands() const;
  void show_text() const;
  void show_json() const;

  const ReplayCommand& o_;
  // The machine of the recording: its costs are taken out of it, and the self-check runs on it.
  [[nodiscard]] const machine::MachineSpec& recorded_on() const { return arms_[0].machine; }
  std::string note_;
  std::vector<ReplayArm> arms_;  // the re-run of the recorded kernel first
  size_t a_ = 0;                 // index of arm A
  Diagnostics diagnostics_;
  trace::Replay replay_;
  report::TaskColumn recorded_;
  std::vector<report::Row> rows_;
  report::ComparisonColumns layout_{.titles = {"recorded"}, .recorded = 0, .self_check = 1};
  report::SelfCheck check_;
  std::vector<analysis::ChangedPlacement> changed_;
  uint64_t total_changed_ = 0;
};

}  // namespace runqlab::cli
