// observe/record/record.h — what a run (or an imported recording) writes while it happens: 32-byte
// plain records, no text. Everything that people read is made from these afterwards.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/types.h"

namespace runqlab {

// The fields of Record mean, by kind (task, cpu, flags, a, b, c):
enum class RecordKind : uint8_t {
  sched_switch,  // prev task, CPU, prev's TaskLeave, a = next task (TaskId value, none = idle)
  waking,        // wakee, waker's CPU, WakeFlags, a = waker task (none = idle), b = previous CPU,
                 //   c = ordinal of this wakeup among the wakee's (from 0)
  wakeup,        // wakee, CPU where it was queued, 0, a = CPU it will run on
  placement,     // wakee, waker's CPU, WakeFlags, a = chosen CPU << 16 | previous CPU,
                 //   b = PlacementRule (sched/placement.h), c = the rule's two values, low and high
  migrate,       // task, CPU that moves it, MigrateReason, a = from CPU, b = to CPU
  fork,          // parent, CPU, 0, a = child
  exit,          // task, CPU
  idle_enter,    // none, CPU
  idle_exit,     // none, CPU
  ipi_send,      // none, sender's CPU, IpiKind, a = target CPU
  ipi_entry,     // none, CPU, IpiKind
  tick,          // current task, CPU
  timer_fire,    // task whose timer fired, CPU
  softirq,       // none, CPU, vector
  set_sched,     // task, CPU, policy, a = nice + 20 or RT priority
};

constexpr size_t kRecordKinds = static_cast<size_t>(RecordKind::set_sched) + 1;

// Why a task left its CPU (flags of sched_switch).
enum class TaskLeave : uint8_t {
  preempted,  // still wants to run
  yielded,    // still wants to run, gave way
  blocked,    // waits
  exited,
  was_idle,  // the idle task
};

enum class MigrateReason : uint8_t { wakeup, fork, balance, affinity };
enum class IpiKind : uint8_t { reschedule, call_function };

// Flags of a wakeup: the kernel's WF_ values as far as they matter here.
namespace wake_flags {
constexpr uint8_t kExec = 0x02;
constexpr uint8_t kFork = 0x04;
constexpr uint8_t kTtwu = 0x08;
constexpr uint8_t kSync = 0x10;
constexpr uint8_t kMigrated = 0x20;
constexpr uint8_t kCurrentCpu = 0x40;
}  // namespace wake_flags

struct Record {
  int64_t time_ns = 0;
  uint32_t task = TaskId::none().value();
  uint16_t cpu = 0;
  RecordKind kind = RecordKind::sched_switch;
  uint8_t flags = 0;
  uint32_t a = 0;
  uint32_t b = 0;
  uint64_t c = 0;

  [[nodiscard]] SimTime time() const { return SimTime::from_ns(time_ns); }
  [[nodiscard]] TaskId task_id() const { return TaskId(task); }
  [[nodiscard]] CpuId cpu_id() const { return CpuId(cpu); }
};
static_assert(sizeof(Record) == 32 && std::is_trivially_copyable_v<Record>);

}  // namespace runqlab
