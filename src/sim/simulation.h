// sim/simulation.h — one run: owns machine, kernel and programs, serves the events in their order
// and executes what the programs ask for.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "engine/event_queue.h"
#include "machine/machine.h"
#include "observe/record/recorder.h"
#include "sched/kernel.h"
#include "sched/kernel_config.h"
#include "sched/pipe.h"
#include "workload/api/workload.h"

namespace runqlab::sim {

struct RunConfig {
  const machine::MachineSpec& machine;
  const sched::KernelConfig& kernel;
  uint64_t seed = 1;
  machine::Tracing tracing{};  // events that a tracer on the simulated machine writes
};

enum class RunEnd : uint8_t {
  all_exited,  // every task has ended
  time_up,     // Workload::end was reached, or the last time that the queue can hold
  quiescent,   // nothing will ever happen again: the tasks left wait for ever
  livelock,    // time stands still: kMaxSameInstant events at one instant
};
std::string_view to_string(RunEnd e);

struct RunResult {
  RunEnd end = RunEnd::all_exited;
  SimTime finished{};   // time of the last event
  uint64_t events = 0;  // dispatched queue slots
  uint64_t records = 0;
  uint64_t state_hash = 0;  // over every record and the final state
  uint64_t tasks_left = 0;  // not ended
};

class Simulation {
 public:
  static constexpr size_t kOwnSlots = 3;  // of the queue, beside those of CPUs and tasks

  // `recorder` gets the run's records; `workload` must outlive the simulation. Both are within
  // check_limits (sim/limits.h).
  Simulation(const RunConfig& config, const Workload& workload, Recorder& recorder);

  // Serves events until the run is over.
  RunResult run();

 private:
  // What a task does now.
  struct TaskRun {
    Program program;
    Op op{};
    uint8_t stage = 0;     // 0: fetch the next op; else op-specific
    bool waiting = false;  // in op::block
    uint32_t tokens = 0;   // wakeups that came before their block
    CpuId timer_cpu{};     // whose interrupt ends its sleep
  };
  enum class Step : uint8_t { again, settle };

  void dispatch(EventQueue::Event e);
  void cpu_event(machine::CpuEvent kind, sched::Here here, SlotId slot);
  void timer_fired(TaskId id, SimTime now, SlotId slot);
  void timer_expires(sched::Here here, TaskId id);
  void expire_timers(sched::Here here);
  void arrivals_due(SimTime now);
  void device_interrupt(sched::Here here);
  // Interrupts of `c` are off: the event waits until they are on again. True when it had to.
  bool postponed(CpuId c, SimTime now, SlotId slot, Phase phase);
  void begin_interrupt(sched::Here here) {
    machine_.push(here.cpu, here.now, machine::Context::hardirq);
  }

  // exec.cc
  void continue_task(sched::Here here);
  Step fetch(sched::Here here, TaskId id, TaskRun& t);
  Step step(sched::Here here, TaskId id, TaskRun& t);
  Step segment(sched::Here here, TaskRun& t, Duration d, bool user_mode, uint8_t next_stage);
  Step sleep(sched::Here here, TaskRun& t, uint8_t stage_after, Duration left);
  Step pipe_write(sched::Here here, TaskId id, TaskRun& t);
  Step pipe_read(sched::Here here, TaskId id, TaskRun& t);
  void deliver_wake(sched::Here here, TaskId target, bool sync, WakeContext context);
  void begin_program(TaskId id);

  // A CPU that the workload names; one beyond the machine's becomes one of its.
  [[nodiscard]] CpuId on_machine(CpuId c) const {
    return CpuId::of(c.index() % machine_.nr_cpus());
  }
  [[nodiscard]] SlotId timer_slot(TaskId id) const {
    return SlotId::of(machine_.nr_slots() + id.index());
  }
  [[nodiscard]] uint64_t final_hash(uint64_t records) const;

  const Workload& workload_;
  Recorder& recorder_;
  Arena arena_;
  Rng rng_;
  EventQueue queue_;
  machine::Machine machine_;
  sched::Kernel kernel_;
  IdVector<TaskId, TaskRun> runs_;
  IdVector<ObjId, sched::Pipe> pipes_;
  size_t next_arrival_ = 0;
  IdVector<CpuId, std::deque<size_t>> arrived_;  // by CPU: arrivals whose interrupt is pending
  size_t next_start_ = 0;
  std::vector<TaskId> starts_;  // tasks that start runnable, in order of time
  SlotId arrival_slot_, start_slot_, end_slot_;
  bool over_ = false;
};

}  // namespace runqlab::sim
