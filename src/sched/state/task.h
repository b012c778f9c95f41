// sched/state/task.h — a task as the scheduler sees it.
#pragma once

#include <cstdint>

#include "base/cpu_mask.h"
#include "base/types.h"
#include "sched/state/entity.h"
#include "workload/api/op.h"

namespace runqlab::sched {

// In order of precedence (FAIR.md F.1).
enum class SchedClass : uint8_t { stop, rt, fair, idle };

enum class RunState : uint8_t {
  not_started,
  runnable,  // queued or running
  sleeping,  // waits; a delayed sleeper is in this state too, with on_rq set
  dead,
};

// Whom a task wakes, for wake_wide (FAIR.md D.3).
struct WakeeTracker {
  uint32_t flips = 0;
  TaskId last{};
  SimTime decayed_at{};
};

struct Task {
  Entity se{};
  TaskId id{};
  SchedClass sched_class = SchedClass::fair;
  Policy policy = Policy::normal;
  RunState state = RunState::not_started;
  bool on_rq = false;  // queued on `cpu` (delayed sleepers are)
  bool percpu_kthread = false;
  bool exiting = false;
  bool user_mode = true;  // the segment in progress can be preempted by an interrupt's exit
  int8_t nice = 0;
  uint8_t rt_priority = 0;  // 1..99; 100: a deadline task, above all of them
  CpuId cpu{};              // where it is queued, runs, or ran last
  CpuId recent_used_cpu{};
  SimTime off_cpu_at{};     // it is still being switched out until then
  uint32_t rr_ticks = 0;    // RR: of the slice, used up; kept while it sleeps or is preempted
  Duration segment_left{};  // of the segment that was interrupted; run when switched in again
  CpuMask allowed{};
  uint32_t nr_allowed = 0;
  uint32_t mm = 0;  // address space; 0: a kernel thread borrows the last one
  WakeeTracker wakees{};
  uint64_t util_est = 0;
  uint64_t util_est_enqueued = 0;  // UTIL_EST_PAIR
  uint32_t wakeups = 0;            // how often it was woken: the ordinal of its next wakeup
  // Neighbours in the run queue's list of fair tasks, most recently queued or picked first.
  TaskId list_prev{}, list_next{};

  // 0..99 for RT (lower is more urgent), 100..139 for fair, as in a trace.
  [[nodiscard]] int prio() const {
    return sched_class == SchedClass::fair ? 120 + nice
           : sched_class == SchedClass::rt ? 99 - rt_priority
                                           : 0;
  }
  [[nodiscard]] bool has_idle_policy() const { return policy == Policy::idle; }
};

}  // namespace runqlab::sched
