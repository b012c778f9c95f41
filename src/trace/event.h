// trace/event.h — one event of a recording, whatever file format it came from.
#pragma once

#include <cstdint>

#include "base/string_pool.h"
#include "base/types.h"

namespace runqlab::trace {

enum class EventKind : uint8_t {
  sched_switch,           // task=prev, other=next, state=prev's, prio=prev's, other_prio=next's
  sched_waking,           // task=wakee, target=its previous CPU; fires in the waker's context
  sched_wakeup,           // task=wakee, target=its new CPU; fires where the wakee is queued
  sched_wakeup_new,       // task=child, target=its CPU
  sched_migrate_task,     // task, other is none; value=from CPU, target=to CPU
  sched_process_fork,     // task=parent, other=child
  sched_process_exec,     // task, other_pid=the thread's id before; name=file, task_comm=its base
  sched_process_exit,     // task
  sched_stat_runtime,     // task, value=runtime in ns
  sched_pi_setprio,       // task, prio=old, other_prio=new
  irq_handler_entry,      // value=irq, name=the action's
  irq_handler_exit,       // value=irq
  softirq_raise,          // value=vector
  softirq_entry,          // value=vector
  softirq_exit,           // value=vector
  vector_entry,           // an x86 vector's handler: value=vector, name="reschedule", …
  vector_exit,            // value=vector, name as above
  hrtimer_expire,         // a timer's callback starts: name=its function. hrtimer_wakeup ends a
                          // task's own sleep; tick_nohz_handler, tick_sched_timer are the tick
  ipi_send,               // target=CPU (none for a mask)
  wake_idle_without_ipi,  // target=CPU
  cpu_idle,               // target=CPU, value=state, or kIdleExit
  other,                  // any other event: only its context is of use
};

constexpr int64_t kIdleExit = 4294967295;

// What the ftrace flag characters say; all false with known=false when the format has none.
struct EventContext {
  bool known : 1 = false;
  bool irqs_off : 1 = false;
  bool need_resched : 1 = false;  // N, n, p, B, … : any mark that the current task be rescheduled
  bool hardirq : 1 = false;
  bool softirq : 1 = false;  // serving one, not merely bottom halves off

  bool operator==(const EventContext&) const = default;
};

// A task's state at switch-out.
enum class TaskState : uint8_t {
  running,          // R: preempted, or yielded
  interruptible,    // S
  uninterruptible,  // D
  stopped,          // T
  traced,           // t
  dead,             // X
  zombie,           // Z
  parked,           // P
  idle,             // I: an uninterruptible wait that does not count as load (kernel threads)
  other,            // anything else (K, W, N, …)
};

// One cache line: a reorder buffer holds many of them.
struct Event {
  int64_t time_ns = 0;  // the recording's clock
  uint64_t line = 0;    // line or event number in the file, for messages; grows in file order
  EventKind kind = EventKind::other;
  TaskState state = TaskState::running;
  bool preempted = false;  // "R+": switched out inside the kernel, not by a call of its own. Never
                           // set by the libtraceevent plugin's form, which drops the mark
  EventContext context{};
  CpuId cpu{};  // where the event fired; none when the format does not say
  CpuId target{};
  int32_t pid = -1;  // current thread when it fired; -1 when the format does not say
  StrId comm{};      // its name (may be cut by the format); none for "<...>" and ":1234"
  int32_t task_pid = -1;
  int32_t other_pid = -1;
  StrId task_comm{};
  StrId other_comm{};
  int16_t prio = 0;
  int16_t other_prio = 0;
  StrId name{};  // what else has a name: see EventKind
  int64_t value = 0;

  bool operator==(const Event&) const = default;
};
static_assert(sizeof(Event) == 64);

}  // namespace runqlab::trace
