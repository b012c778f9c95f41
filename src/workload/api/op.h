// workload/api/op.h — what a task can ask for, as plain values. A workload model yields these and
// never sees the scheduler; the simulation answers by letting time pass.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace runqlab {

enum class Policy : uint8_t { normal, batch, idle, fifo, rr, deadline, stop };

enum class OpKind : uint8_t {
  run,    // amount = ns of work in user mode on an undisturbed CPU of speed 1
  wake,   // target = task; a wakeup that nobody waits for yet is kept
  block,  // until the task was woken once more often than it blocked
  sleep,  // amount = ns from now; target = CPU whose interrupt wakes it, none = where it slept
  sleep_until,   // amount = ns on the virtual clock; returns at once when that has passed
  yield,         // sched_yield
  fork,          // target = task that starts now
  set_sched,     // target = task, none = itself; detail = Policy, amount = nice or RT priority
  set_affinity,  // target = index into Workload::cpu_lists
  pipe_write,    // target = pipe, amount = bytes
  pipe_read,     // target = pipe, amount = bytes
  exit,          // also the end of a program
};

enum class WakeContext : uint8_t { task, softirq, hardirq };

// 16 bytes, trivially copyable.
struct Op {
  OpKind kind = OpKind::exit;
  bool sync = false;   // wake: the waker promises to sleep soon (WF_SYNC)
  bool bare = false;   // its own cost is among the program's run pieces, as in a recording
  uint8_t detail = 0;  // wake: WakeContext; set_sched: Policy
  uint32_t target = ~uint32_t{0};
  int64_t amount = 0;
};
static_assert(sizeof(Op) == 16);

namespace op {
constexpr Op run(Duration work) { return {.kind = OpKind::run, .amount = work.ns()}; }
constexpr Op wake(TaskId t, bool sync, WakeContext context = WakeContext::task) {
  return {.kind = OpKind::wake,
          .sync = sync,
          .detail = static_cast<uint8_t>(context),
          .target = t.value()};
}
constexpr Op block() { return {.kind = OpKind::block}; }
constexpr Op sleep(Duration d) { return {.kind = OpKind::sleep, .amount = d.ns()}; }
constexpr Op sleep_until(SimTime t) { return {.kind = OpKind::sleep_until, .amount = t.ns()}; }
constexpr Op yield() { return {.kind = OpKind::yield}; }
constexpr Op fork(TaskId child) { return {.kind = OpKind::fork, .target = child.value()}; }
constexpr Op set_sched(TaskId t, Policy policy, int nice_or_priority) {
  return {.kind = OpKind::set_sched,
          .detail = static_cast<uint8_t>(policy),
          .target = t.value(),
          .amount = nice_or_priority};
}
constexpr Op set_affinity(uint32_t cpu_list) {
  return {.kind = OpKind::set_affinity, .target = cpu_list};
}
constexpr Op pipe_write(ObjId pipe, int64_t bytes) {
  return {.kind = OpKind::pipe_write, .target = pipe.value(), .amount = bytes};
}
constexpr Op pipe_read(ObjId pipe, int64_t bytes) {
  return {.kind = OpKind::pipe_read, .target = pipe.value(), .amount = bytes};
}
constexpr Op exit() { return {.kind = OpKind::exit}; }
constexpr Op bare(Op o) {
  o.bare = true;
  return o;
}
}  // namespace op

}  // namespace runqlab
