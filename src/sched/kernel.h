// sched/kernel.h — the scheduler core of one run: it asks the policies (fair, real-time, placement,
// balancing) and acts on their answers through the machine (FAIR.md D.1, D.2, D.10, F).
//
// Entry points take `Here`: the CPU whose code runs and the time. They charge costs to that CPU;
// whoever called the entry point ends with settle().
#pragma once

#include "base/rng.h"
#include "machine/machine.h"
#include "sched/balancer.h"
#include "sched/fair.h"
#include "sched/kernel_config.h"
#include "sched/placer.h"
#include "sched/rt.h"
#include "sched/state/kernel_state.h"
#include "workload/api/workload.h"

namespace runqlab::sched {

class Kernel {
 public:
  Kernel(const KernelConfig& config, machine::Machine& machine, const Workload& workload,
         const Rng& rng);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  [[nodiscard]] Task& task(TaskId id) { return s_.tasks[id]; }
  [[nodiscard]] const Task& task(TaskId id) const { return s_.tasks[id]; }
  [[nodiscard]] TaskId current(CpuId c) const { return s_.rqs[c].curr; }
  [[nodiscard]] const KernelState& state() const { return s_; }

  // --- System calls and the like, from a task or an interrupt --------------------------------

  // Queues a task that exists when the run starts. `settled_util` as in TaskSpec.
  void start(Here here, TaskId id, std::optional<uint16_t> settled_util);
  // wake_up_new_task: the child is placed and queued.
  void fork(Here here, TaskId child);
  // try_to_wake_up for a task that sleeps. `flags`: wake_flags::kSync or 0.
  void wake(Here here, TaskId id, uint8_t flags, WakeContext context);
  void set_sched(Here here, TaskId id, Policy policy, int nice_or_priority);
  // The current task narrows or widens where it may run; false when it must leave this CPU.
  [[nodiscard]] bool set_affinity(Here here, TaskId id, const std::string& cpus);
  void yield(Here here);

  // How much later than asked a timer of this task may expire: none for real-time tasks.
  [[nodiscard]] Duration timer_slack(TaskId id) const {
    return s_.tasks[id].sched_class == SchedClass::fair ? config_.tunables.timer_slack_ns
                                                        : Duration{};
  }

  // The scheduling pass: the current task leaves (or not), the next one is picked and switched to.
  // `resume` is what the leaving task executes first when it comes back.
  struct Resume {
    Duration left{};
    bool user_mode = true;
  };
  void schedule(Here here, TaskLeave why, Resume resume);

  // --- Interrupts ------------------------------------------------------------------------------

  // Ends a piece of code on `c`: what it was charged becomes time.
  void settle(Here here) {
    machine_.charge_runtime_events(here.cpu, fair_.runtime_events);
    fair_.runtime_events = 0;
    machine_.settle(here.cpu, here.now);
  }

  // Bodies of the handlers; the machine's stack has the interrupt on top.
  void tick(Here here);
  void resched_ipi(Here here);
  void call_ipi(Here here);
  void timer_interrupt(Here here, TaskId id);  // the expiry alone; the wakeup is a call of its own
  // The top of the stack was popped: softirqs, then preemption, then what was below goes on.
  void interrupt_exit(Here here);
  // The idle task runs because something ended its idle state.
  void idle_loop(Here here);
  // A task is about to return to user mode.
  [[nodiscard]] bool must_resched_to_user(CpuId c) const {
    return machine_.need_resched(c) || machine_.need_resched_lazy(c);
  }

  // How many tasks have not ended yet.
  [[nodiscard]] size_t alive() const { return alive_; }

 private:
  // kernel.cc
  void init_averages(Task& p, std::optional<uint16_t> settled_util, SimTime now);
  TaskId pick_next(Here here);
  void switch_to(Here here, TaskId prev, TaskId next, TaskLeave why);
  void put_prev(Rq& rq, Task& p, SimTime now);
  void set_next(Rq& rq, Task& p, SimTime now, bool picked);
  void dequeue_leaving(Here here, Task& p, bool exits);
  void enter_idle(Here here);
  void rest(Here here);
  bool restart_tick(Here here);  // true when it was stopped

  // kernel_wake.cc
  void enqueue(Here here, Task& p, EnqueueFlags flags);
  void activate_woken(Here here, Task& p, bool migrated, uint8_t flags);
  void wake_queued(Here here, Task& p);
  [[nodiscard]] bool use_wakelist(Here here, const Task& p, CpuId cpu) const;
  void push_wakelist(Here here, Task& p, bool migrated);
  void drain_wakelist(Here here);
  void preempt_check(Here here, Rq& rq, Task& p, bool fork);
  // Asks for a scheduling pass on `cpu`; lazily where the model and the classes allow.
  void resched(Here here, CpuId cpu, bool lazy);
  void charge_remote(Here here, CpuId cpu);
  void record_placement(Here here, const Task& p, const Placement& placement, uint8_t flags);
  void set_cpu(Here here, Task& p, CpuId to, MigrateReason why);

  // Work that other CPUs left for this one: wakeups, a balancer's kick.
  void call_function(Here here);

  // kernel_balance.cc
  void kick_idle_balancer(Here here);
  void softirq_sched(Here here);
  void nohz_balance(Here here);
  void finish_pass(Here here, const BalancePass& pass);

  void emit(Here here, RecordKind kind, TaskId task, uint8_t flags = 0, uint32_t a = 0,
            uint32_t b = 0, uint64_t c = 0) {
    machine_.emit({.time_ns = here.now.ns(),
                   .task = task.value(),
                   .cpu = here.cpu.value(),
                   .kind = kind,
                   .flags = flags,
                   .a = a,
                   .b = b,
                   .c = c});
  }
  const KernelConfig config_;
  machine::Machine& machine_;
  KernelState s_;
  FairClass fair_;
  RtClass rt_;
  Placer placer_;
  Balancer balancer_;
  CpuMask nohz_idle_;              // CPUs whose tick is stopped
  int64_t nohz_next_balance_ = 0;  // jiffies
  size_t alive_ = 0;
};

}  // namespace runqlab::sched
