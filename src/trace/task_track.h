// trace/task_track.h — what is known of one recorded task while its recording is read: where it is,
// and the raw pieces of its program.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/event.h"
#include "workload/api/workload.h"

namespace runqlab::trace {

// The class and its parameters, from a priority as traces print it: -1 is a deadline task, 0..99
// real time, 100..139 fair. FIFO and RR look alike there, and so do normal, batch and idle tasks.
struct SchedParams {
  Policy policy = Policy::normal;
  int nice = 0;
  int rt_priority = 0;
};
constexpr SchedParams params_of(int prio) {
  if (prio < 0) return {.policy = Policy::deadline};
  if (prio < 100) return {.policy = Policy::fifo, .rt_priority = prio > 98 ? 1 : 99 - prio};
  return {.nice = prio > 139 ? 19 : prio - 120};
}

// A piece of a program before costs are taken out. A wakeup stays removable until it is known that
// it ended a block.
struct RawOp {
  Op op{};
  int64_t debt_ns = 0;  // run: costs to take out of op.amount
  bool dropped = false;
};

// An op that was not recorded but must have been there (trace/replay_rendezvous.cc): inside run op
// `op_index`, after `offset_ns` of its work, or that long before its end if negative.
struct Insertion {
  size_t op_index = 0;
  int64_t offset_ns = 0;
  Op op{};
};

// A wakeup that was seen and whose path (here, there, with an interrupt) is known only when the
// wakee runs.
struct PendingWake {
  int64_t time_ns = 0;
  CpuId cpu{};                    // of the waker
  uint32_t waker = ~uint32_t{0};  // index of its track
  size_t op = 0;                  // the wake among the waker's ops
  bool is_set = false;
};

// A sleep that the task's own timer ended, on the recording's clock.
struct TimerSleep {
  size_t op = 0;
  int64_t from_ns = 0, until_ns = 0;
};

// Whether a task may use a CPU, as far as the recording tells: since it ran there last.
struct CpuEvidence {
  int64_t waited_ns = 0;
  int64_t idle_ns = 0;  // of that, while this CPU was idle
  uint32_t waits = 0;
  uint32_t long_waits = 0;  // of at least a tick, while this CPU was mostly idle
  size_t left_at_op = 0;    // ops.size() when its last run there ended
  bool ran = false;
  bool excluded = false;  // it had itself moved away from there (or its parent had)
};

struct TaskTrack {
  enum class Where : uint8_t { unknown, blocked, runnable, running, gone };

  TaskId id{};
  int32_t pid = 0;
  StrId comm{};
  Where where = Where::unknown;
  TaskStart start = TaskStart::runnable;
  int64_t start_ns = 0;
  CpuId first_cpu{};
  CpuId cpu{};                // while running
  bool preempt_seen = false;  // something asked to reschedule it in this run
  bool woke_stopper = false;  // of its own CPU, and blocked next or will
  bool has_prio = false;
  int prio = 120;        // as in the trace
  int first_prio = 120;  // when it was first seen
  std::vector<RawOp> ops;
  int64_t run_start_ns = 0;
  int64_t mark_ns = 0;  // work up to here is in `ops`
  int64_t irq_ns = 0;   // measured interrupt time since mark_ns
  int64_t waiting_since_ns = 0;
  std::vector<int64_t> idle_at_wait;  // idle time of each CPU when the wait began
  std::vector<CpuEvidence> evidence;  // by CPU
  TaskState block_state = TaskState::interruptible;
  int64_t blocked_at_ns = 0;
  size_t block_op = 0;
  uint32_t wakeups = 0;
  uint64_t woken_over_idle = 0;  // by interrupts of idle CPUs
  PendingWake woken{};           // the wakeup that made it runnable
  PendingWake early{};           // a wakeup that came while it still ran
  // The wakeups that this task issued, and how many of them it kept the promise of WF_SYNC after:
  // to be off its CPU soon.
  uint32_t wakes = 0, promises_kept = 0;
  int64_t work_since_wake_ns = 0;
  bool has_last_wake = false;  // the fields below are about the last of them
  size_t last_wake_op = 0;
  uint32_t last_wakee = ~uint32_t{0};
  bool preempted_by_wakee = false;
  uint32_t awaits_answer = ~uint32_t{0};  // it blocked right after waking this task
  size_t open_rendezvous = ~size_t{0};    // it runs as a wakee that preempted its waker
  std::vector<Insertion> insertions;
  std::vector<TimerSleep> timer_sleeps;

  // The run op at the end of `ops`, made if need be.
  RawOp& run_op() {
    if (ops.empty() || ops.back().op.kind != OpKind::run) ops.push_back({.op = op::run({})});
    return ops.back();
  }
  // Appends the work from mark_ns to `now`.
  void advance(int64_t now) {
    int64_t work = now - mark_ns - irq_ns;
    if (work < 0) work = 0;
    run_op().op.amount += work;
    work_since_wake_ns += work;
    mark_ns = now;
    irq_ns = 0;
  }
};

}  // namespace runqlab::trace
