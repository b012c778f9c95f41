// workload/api/workload.h — everything a run executes: tasks with their programs, the objects they
// share, and what reaches the machine from outside. Built once, before the run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cpu_mask.h"
#include "base/id_vector.h"
#include "base/rng.h"
#include "base/types.h"
#include "workload/api/program.h"

namespace runqlab {

// How a task comes into being.
enum class TaskStart : uint8_t {
  runnable,  // queued at `start` on `start_cpu`
  blocked,   // exists from the beginning, waits to be woken
  forked,    // by another task's op::fork
};

struct TaskSpec {
  std::string name;  // comm
  int32_t pid = 0;   // as in a trace; 0: TaskId + 1
  Policy policy = Policy::normal;
  int nice = 0;           // -20..19
  int rt_priority = 0;    // 1..99 for fifo and rr
  std::string allowed{};  // CPU list; empty: all
  bool percpu_kthread = false;
  uint32_t mm = 0;  // address space: equal for threads of a process; 0 for kernel threads
  TaskStart start = TaskStart::runnable;
  SimTime start_time{};
  CpuId start_cpu{};  // none: CPU 0
  // The part of a CPU, of 1024, that the task has long been using when it starts; none: it is new.
  std::optional<uint16_t> settled_util{};
  std::function<Program(Arena&)> program{};
};

struct PipeSpec {
  int64_t capacity_pages = 16;  // of 4096 bytes
};

// A wakeup that comes from outside the machine, as an interrupt on one CPU.
struct Arrival {
  SimTime time;
  CpuId cpu;
  TaskId task;          // none: the interrupt only takes time
  Duration duration{};  // of the handler, beside the machine's own cost of an interrupt
  WakeContext context = WakeContext::hardirq;
};

struct Workload {
  std::string name;
  uint64_t content_hash = 0;  // equal for equal programs
  IdVector<TaskId, TaskSpec> tasks;
  IdVector<ObjId, PipeSpec> pipes;
  std::vector<std::string> cpu_lists{};  // for op::set_affinity
  std::vector<Arrival> arrivals{};       // in order of time
  SimTime end = SimTime::max();  // the run ends here at the latest; else when all tasks have ended
  Duration tick_offset{};        // ticks fall on tick_offset + k * TICK
  int64_t operations = 0;        // what the benchmark counts, for "ops/sec"; 0: it counts nothing
  std::shared_ptr<const void> keep_alive{};  // what the programs refer to
};

}  // namespace runqlab
