// analysis/pick_scenario.h — scenarios of one CPU for the pick policies (`pick-scenarios/1` JSON)
// and the decisions that are expected of them (CSV). The decisions come from the fair class that
// every simulation uses; only what surrounds it, one CPU without costs, is made here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "sched/kernel_config.h"
#include "workload/api/op.h"

namespace runqlab::analysis {

struct PickTask {
  std::string name;
  Policy policy = Policy::normal;
  int nice = 0;
  int64_t vruntime = 0;             // initial; 0 with `start_ns`
  std::optional<int64_t> start_ns;  // of its first wakeup; none: queued at time 0
  std::optional<int64_t> slice_ns;  // its own, 0.1..100 ms
  struct Step {
    int64_t run_ns;
    int64_t sleep_ns;
  };
  std::vector<Step> pattern;  // repeated for ever; empty: never sleeps
};

struct PickScenario {
  std::string id;
  int64_t hz = 250;
  size_t online_cpus = 8;  // for the scaling of slices
  int64_t until_ns = 0;    // inclusive
  std::vector<PickTask> tasks;
  std::vector<std::string> versions;  // kernels for which decisions are expected
};

// Errors name the file and the scenario.
Result<std::vector<PickScenario>> parse_pick_scenarios(std::string_view json,
                                                       const std::string& file);
Result<std::vector<PickScenario>> load_pick_scenarios(const std::string& path);

// Every decision, as the rows of the CSV have them: "time_ns,task,why,vruntime", for EEVDF also
// ",deadline,slice_or_note". At one instant first the end of the running task's burst, then wakeups
// in the order of the tasks, then the tick; switches cost nothing. Stops after `most` lines.
std::vector<std::string> pick_decisions(const PickScenario& scenario,
                                        const sched::KernelConfig& kernel, size_t most = SIZE_MAX);

// Expected decisions by scenario, HZ, CPUs and kernel; a file without the column `version` is for
// every kernel whose pick policy is CFS.
struct PickKey {
  std::string scenario;
  int64_t hz;
  int64_t online_cpus;
  std::string version;
  auto operator<=>(const PickKey&) const = default;
};
using PickExpectations = std::map<PickKey, std::vector<std::string>>;
Result<PickExpectations> load_pick_expectations(const std::string& path);

}  // namespace runqlab::analysis
