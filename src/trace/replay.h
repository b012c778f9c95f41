// trace/replay.h — a recording as a workload: bursts of CPU work between blocks, with the wakeups
// as causal edges (DESIGN.md, "Causal replay"). No CPU and no switch time of the recording remains
// in it, except a task's first CPU and the CPU that took an outside interrupt.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "machine/machine.h"
#include "machine/machine_spec.h"
#include "observe/record/recorder.h"
#include "trace/import/import.h"
#include "workload/api/workload.h"

namespace runqlab::trace {

// How a wakeup by an interrupt is re-run.
enum class IrqWakeups : uint8_t {
  inferred,  // own timers and own requests relative to the block, others at their time
  relative,  // all relative to the start of the sleeper's block
  absolute,  // all at their time
};

// Text formats do not carry WF_SYNC.
enum class SyncHint : uint8_t {
  inferred,  // a waker that blocks within kSyncWindow of CPU time promised to
  always,
  never,
};

struct ReplayOptions {
  int64_t from_ns = 0;  // window, on the recording's clock
  int64_t to_ns = INT64_MAX;
  IrqWakeups irq_wakeups = IrqWakeups::inferred;
  SyncHint sync_hint = SyncHint::inferred;
  // Share of the modelled costs (switches, wakeups, interrupts, tracing) that is taken out of the
  // recorded bursts, because the simulation adds it again. 0..200 percent.
  int cost_correction_pct = 100;
  std::map<std::string, std::string> affinity{};  // comm -> CPU list, instead of the inferred one
};

// What the recording turned into; printed with every replay.
struct ReplayCounts {
  uint64_t tasks = 0;
  uint64_t yields = 0;         // switches of a runnable task taken for a yield (replay_builder.cc)
  uint64_t task_edges = 0;     // woken by a task
  uint64_t over_tasks = 0;     // seemed so, taken for a timer's: the recording has no flags
  uint64_t softirq_edges = 0;  // woken in a softirq at the end of a task's own send
  uint64_t timers = 0;         // the sleeper's own timer, relative to its block
  uint64_t periodic = 0;       // the sleeper's own timer, at points of its clock (replay_timers.cc)
  uint64_t requests = 0;       // the sleeper's own request (D state), relative to its block
  uint64_t arrivals = 0;       // independent of the sleeper, at their time
  uint64_t not_blocked = 0;    // woken while running or queued: no block to end
  uint64_t clamped = 0;        // pieces of work shorter than the costs taken out of them
  uint64_t inferred_pinned = 0;
  uint64_t rendezvous = 0;  // answers that preemption hid (trace/replay_rendezvous.cc)
};

using Programs = std::vector<std::vector<Op>>;  // by TaskId

struct Replay {
  Workload workload;  // its programs read `programs`
  std::shared_ptr<const Programs> programs;
  ReplayCounts counts;
  machine::Tracing tracing{};  // events that the recorder wrote, by what the simulation does
  int64_t start_ns = 0;        // recording's clock at time 0
  Duration span{};
  uint32_t nr_cpus = 0;
  ImportSummary import;
};

// Gives every task of the workload its program, and the workload its content hash.
void attach_programs(Replay& replay, std::shared_ptr<const Programs> programs);

// Reads the recording once, streaming. `recorded` gets what was
// recorded as records (sched_switch, waking, fork, exit), with the workload's TaskIds, for the same
// tables as a simulated run. `machine` gives the costs to take out.
Result<Replay> load_replay(const std::string& path, const machine::MachineSpec& machine,
                           const ReplayOptions& options, RecordSink& recorded,
                           Diagnostics& diagnostics);

}  // namespace runqlab::trace
