// Waking tasks: selection, queueing here or there, preemption (FAIR.md D.1, D.2, D.10).
#include "sched/kernel.h"

namespace runqlab::sched {

void Kernel::wake(Here here, TaskId id, uint8_t flags, WakeContext context) {
  Task& p = s_.tasks[id];
  flags |= wake_flags::kTtwu;
  emit(here, RecordKind::waking, id, flags, s_.rqs[here.cpu].curr.value(),
       static_cast<uint32_t>(p.cpu.value()) | static_cast<uint32_t>(context) << 16, p.wakeups++);
  if (p.on_rq) {
    wake_queued(here, p);
    return;
  }
  RQL_AUDIT(p.state == RunState::sleeping);
  p.state = RunState::runnable;
  if (here.now < p.off_cpu_at) {
    // It is still being switched out: its own CPU may take it, else the waker spins.
    if (use_wakelist(here, p, p.cpu)) {
      push_wakelist(here, p, false);
      return;
    }
    machine_.charge(here.cpu, p.off_cpu_at - here.now);
  }
  const Placement placement = placer_.select(p, here, flags, context);
  record_placement(here, p, placement, flags);
  machine_.charge(here.cpu, machine_.costs().idle_probe_ns * placement.probes);
  const bool migrated = placement.cpu != p.cpu;
  if (migrated) {
    if (p.sched_class == SchedClass::fair) fair_.leave_sleeping(s_.rqs[p.cpu], p, here.now);
    set_cpu(here, p, placement.cpu, MigrateReason::wakeup);
  }
  if (use_wakelist(here, p, p.cpu)) {
    push_wakelist(here, p, migrated);
  } else {
    machine_.charge(here.cpu, machine_.costs().wakeup_ns);
    activate_woken(here, p, migrated, flags);
  }
}

void Kernel::record_placement(Here here, const Task& p, const Placement& placement, uint8_t flags) {
  emit(here, RecordKind::placement, p.id, flags,
       static_cast<uint32_t>(placement.cpu.value()) << 16 | p.cpu.value(),
       static_cast<uint32_t>(placement.rule) | static_cast<uint32_t>(placement.affine) << 8 |
           static_cast<uint32_t>(placement.probes) << 16,
       static_cast<uint64_t>(static_cast<uint32_t>(placement.left)) |
           static_cast<uint64_t>(static_cast<uint32_t>(placement.right)) << 32);
}

void Kernel::set_cpu(Here here, Task& p, CpuId to, MigrateReason why) {
  emit(here, RecordKind::migrate, p.id, static_cast<uint8_t>(why), p.cpu.value(), to.value());
  p.cpu = to;
}

// The task is queued already: it was delayed, or it has not gone to sleep yet. No CPU is selected.
void Kernel::wake_queued(Here here, Task& p) {
  Rq& rq = s_.rqs[p.cpu];
  machine_.charge(here.cpu, machine_.costs().wakeup_ns);
  charge_remote(here, p.cpu);
  if (p.se.delayed && fair_.requeue_delayed(rq, p, here.now)) resched(here, rq.cpu, true);
  p.state = RunState::runnable;
  if (rq.curr != p.id) preempt_check(here, rq, p, false);
  emit(here, RecordKind::wakeup, p.id, 0, p.cpu.value());
}

bool Kernel::use_wakelist(Here here, const Task& p, CpuId cpu) const {
  if (!config_.features.ttwu_queue || p.sched_class == SchedClass::stop) return false;
  if (!p.allowed.test(cpu)) return false;
  if (!s_.share_llc(here.cpu, cpu)) return true;
  return cpu != here.cpu && s_.rqs[cpu].nr_running == 0;
}

void Kernel::push_wakelist(Here here, Task& p, bool migrated) {
  Rq& rq = s_.rqs[p.cpu];
  machine_.charge(here.cpu, machine_.costs().wakelist_ns);
  const bool first = rq.wakelist.empty();
  rq.wakelist.push_back({p.id, migrated});
  rq.ttwu_pending = true;
  if (!first) return;  // whoever pushed before has told the CPU
  if (machine_.polling(rq.cpu)) {
    machine_.set_need_resched(rq.cpu);
    machine_.end_idle(rq.cpu, here.now);
  } else {
    machine_.send_ipi(here.cpu, rq.cpu, IpiKind::call_function, here.now);
  }
}

void Kernel::drain_wakelist(Here here) {
  Rq& rq = s_.rqs[here.cpu];
  // Activating does not wake anybody: the list cannot grow meanwhile.
  for (const Rq::Woken& w : rq.wakelist) {
    machine_.charge(here.cpu, machine_.costs().activate_ns);
    activate_woken(here, s_.tasks[w.task], w.migrated, wake_flags::kTtwu);
  }
  rq.wakelist.clear();
  rq.ttwu_pending = false;
}

void Kernel::resched_ipi(Here here) {
  // The flag was set by the sender; the interrupt's exit acts on it.
  emit(here, RecordKind::ipi_entry, TaskId::none(), static_cast<uint8_t>(IpiKind::reschedule));
}

void Kernel::call_ipi(Here here) {
  emit(here, RecordKind::ipi_entry, TaskId::none(), static_cast<uint8_t>(IpiKind::call_function));
  call_function(here);
}

void Kernel::timer_interrupt(Here here, TaskId id) { emit(here, RecordKind::timer_fire, id); }

void Kernel::call_function(Here here) {
  drain_wakelist(here);
  Rq& rq = s_.rqs[here.cpu];
  if (!rq.nohz_kicked) return;
  // Only an idle CPU balances for the others.
  if (rq.is_idle()) {
    rq.sched_softirq = true;
  } else {
    rq.nohz_kicked = false;
  }
}

void Kernel::charge_remote(Here here, CpuId cpu) {
  const auto& costs = machine_.costs();
  switch (machine_.distance(here.cpu, cpu)) {
    case machine::Distance::same_cpu:
      break;
    case machine::Distance::smt:
    case machine::Distance::llc:
      machine_.charge(here.cpu, costs.rq_remote_llc_ns);
      break;
    case machine::Distance::node:
      machine_.charge(here.cpu, costs.rq_remote_node_ns);
      break;
    case machine::Distance::remote:
      machine_.charge(here.cpu, costs.rq_remote_far_ns);
      break;
  }
}

void Kernel::enqueue(Here here, Task& p, EnqueueFlags flags) {
  Rq& rq = s_.rqs[p.cpu];
  switch (p.sched_class) {
    case SchedClass::fair:
      if (fair_.enqueue(rq, p, flags, here.now)) resched(here, rq.cpu, true);
      break;
    case SchedClass::rt:
      rt_.enqueue(rq, p, flags.head);
      break;
    case SchedClass::stop:
      RQL_CHECK(!rq.stop.valid());
      rq.stop = p.id;
      ++rq.nr_running;
      p.on_rq = true;
      break;
    case SchedClass::idle:
      break;
  }
}

void Kernel::activate_woken(Here here, Task& p, bool migrated, uint8_t flags) {
  Rq& rq = s_.rqs[p.cpu];
  charge_remote(here, p.cpu);
  enqueue(here, p, {.wakeup = true, .migrated = migrated});
  preempt_check(here, rq, p, (flags & wake_flags::kFork) != 0);
  emit(here, RecordKind::wakeup, p.id, 0, p.cpu.value());
  rq.end_idle_period(clock_ns(here.now), machine_.jiffies(here.now));
}

void Kernel::preempt_check(Here here, Rq& rq, Task& p, bool fork) {
  if (!rq.curr.valid()) {
    resched(here, rq.cpu, false);
    return;
  }
  Task& curr = s_.tasks[rq.curr];
  if (p.sched_class != curr.sched_class) {
    if (p.sched_class < curr.sched_class) resched(here, rq.cpu, false);
    return;
  }
  bool preempt = false;
  if (p.sched_class == SchedClass::fair) {
    preempt = fair_.wakeup_preempt(rq, p, fork, machine_.need_resched(rq.cpu), here.now);
  } else if (p.sched_class == SchedClass::rt) {
    preempt = RtClass::preempts(curr, p);
  }
  if (preempt) resched(here, rq.cpu, p.sched_class == SchedClass::fair);
}

void Kernel::resched(Here here, CpuId cpu, bool lazy) {
  if (machine_.need_resched(cpu)) return;
  if (lazy && config_.tunables.preempt == Preempt::lazy) {
    machine_.set_need_resched_lazy(cpu);
    return;
  }
  machine_.set_need_resched(cpu);
  if (cpu == here.cpu) return;
  if (machine_.polling(cpu)) {
    machine_.end_idle(cpu, here.now);
  } else {
    machine_.send_ipi(here.cpu, cpu, IpiKind::reschedule, here.now);
  }
}

}  // namespace runqlab::sched
