// Tasks, the scheduling pass and the tick.
#include "sched/kernel.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "sched/domain_builder.h"
#include "sched/pelt.h"

namespace runqlab::sched {
namespace {

SchedClass class_of(Policy policy) {
  switch (policy) {
    case Policy::stop:
      return SchedClass::stop;
    case Policy::fifo:
    case Policy::rr:
    case Policy::deadline:
      return SchedClass::rt;
    case Policy::normal:
    case Policy::batch:
    case Policy::idle:
      break;
  }
  return SchedClass::fair;
}

LoadWeight weight_of(Policy policy, int nice) {
  return policy == Policy::idle ? idle_policy_weight() : nice_weight(nice);
}

// A deadline task runs above every FIFO priority (the class itself is not modelled).
constexpr int kDeadlinePriority = 100;
constexpr int kHighestFifo = 99;

void set_policy(Task& p, Policy policy, int nice, int rt_priority) {
  p.policy = policy;
  p.se.idle_policy = policy == Policy::idle;
  p.sched_class = class_of(policy);
  p.nice = static_cast<int8_t>(nice);
  p.rt_priority =
      static_cast<uint8_t>(policy == Policy::deadline ? kDeadlinePriority : rt_priority);
}

// CPUs of the list that the machine has; all when there is none of them.
CpuMask allowed_mask(const std::string& list, size_t nr_cpus) {
  if (list.empty()) return CpuMask::all(nr_cpus);
  CpuMask m(nr_cpus);
  const bool ok = parse_cpu_list(list, [&](uint32_t first, uint32_t last) {
    for (size_t c = first; c <= last && c < nr_cpus; ++c) m.set(CpuId::of(c));
  });
  RQL_CHECK(ok);
  return m.empty() ? CpuMask::all(nr_cpus) : m;
}

}  // namespace

Kernel::Kernel(const KernelConfig& config, machine::Machine& machine, const Workload& workload,
               const Rng& rng)
    : config_(config),
      machine_(machine),
      s_(config_.features, config_.tunables, machine),
      fair_(fair_params(config_, machine.nr_cpus(), machine.tick()), s_.tasks, s_.overload),
      rt_(config_.tunables.rr_timeslice_ns, machine.tick()),
      placer_(s_),
      balancer_(s_, fair_, rng),
      nohz_idle_(CpuMask::all(machine.nr_cpus())) {
  const size_t n = machine.nr_cpus();
  s_.domains = build_domains(machine.topology());
  s_.rqs = IdVector<CpuId, Rq>(n);
  for (size_t i = 0; i < n; ++i) {
    Rq& rq = s_.rqs[CpuId::of(i)];
    rq.cpu = CpuId::of(i);
    rq.avg_idle = rq.wake_avg_idle = config_.tunables.migration_cost_ns * 2;
    rq.max_idle_balance_cost = config_.tunables.migration_cost_ns;
    rq.idle_stamp_ns = clock_ns(SimTime{});
    rq.tick_stopped = true;
    rq.cpu_capacity = machine.topology().cpu(CpuId::of(i)).capacity;
  }
  for (LlcShared& llc : s_.domains.llc) llc.has_idle_cores = machine.topology().has_smt();
  IdVector<CpuId, uint8_t> has_stopper(n);
  s_.tasks = IdVector<TaskId, Task>(workload.tasks.size());
  for (size_t i = 0; i < workload.tasks.size(); ++i) {
    const TaskSpec& spec = workload.tasks[TaskId::of(i)];
    Task& p = s_.tasks[TaskId::of(i)];
    p.id = p.se.task = TaskId::of(i);
    set_policy(p, spec.policy, spec.nice, spec.rt_priority);
    p.se.load = weight_of(spec.policy, spec.nice);
    p.se.slice_ns = base_slice(config_, n).ns();
    p.percpu_kthread = spec.percpu_kthread;
    p.mm = spec.mm;
    p.allowed = allowed_mask(spec.allowed, n);
    p.nr_allowed = static_cast<uint32_t>(p.allowed.count());
    // A recording may come from a larger machine.
    const bool starts_there =
        spec.start_cpu.valid() && spec.start_cpu.index() < n && p.allowed.test(spec.start_cpu);
    p.cpu = starts_there ? spec.start_cpu : p.allowed.first();
    p.recent_used_cpu = p.cpu;
    // A CPU has one stopper, its own; a recording may name more of them.
    if (spec.policy == Policy::stop &&
        (p.nr_allowed != 1 || std::exchange(has_stopper[p.cpu], 1) != 0)) {
      set_policy(p, Policy::fifo, 0, kHighestFifo);
    }
    if (spec.start == TaskStart::blocked) {
      p.state = RunState::sleeping;
      FairClass::init_sleeper(p);
      init_averages(p, spec.settled_util, SimTime{});
    }
    ++alive_;
  }
}

void Kernel::init_averages(Task& p, std::optional<uint16_t> settled_util, SimTime now) {
  if (p.sched_class != SchedClass::fair) return;
  Rq& rq = s_.rqs[p.cpu];
  if (settled_util) {
    fair_.init_settled(rq, p, *settled_util, now);
  } else {
    fair_.init_new(rq, p);
  }
}

void Kernel::start(Here here, TaskId id, std::optional<uint16_t> settled_util) {
  Task& p = s_.tasks[id];
  p.state = RunState::runnable;
  Rq& rq = s_.rqs[p.cpu];
  init_averages(p, settled_util, here.now);
  enqueue(here, p, {.initial = true});
  emit(here, RecordKind::wakeup, id, 0, p.cpu.value());
  preempt_check(here, rq, p, true);
}

void Kernel::fork(Here here, TaskId child) {
  Task& p = s_.tasks[child];
  emit(here, RecordKind::fork, s_.rqs[here.cpu].curr, 0, child.value());
  p.state = RunState::runnable;
  if (p.allowed.test(here.cpu)) p.cpu = here.cpu;
  p.recent_used_cpu = p.cpu;
  if (p.sched_class == SchedClass::fair) fair_.fork(s_.rqs[here.cpu], p, here.now);
  const Placement placement = placer_.select(p, here, wake_flags::kFork, WakeContext::task);
  record_placement(here, p, placement, wake_flags::kFork);
  p.cpu = placement.cpu;
  Rq& rq = s_.rqs[p.cpu];
  if (p.sched_class == SchedClass::fair) fair_.init_new(rq, p);
  machine_.charge(here.cpu, machine_.costs().wakeup_ns);
  charge_remote(here, p.cpu);
  enqueue(here, p, {.initial = true});
  emit(here, RecordKind::wakeup, child, 0, p.cpu.value());
  preempt_check(here, rq, p, true);
}

void Kernel::set_sched(Here here, TaskId id, Policy policy, int value) {
  Task& p = s_.tasks[id];
  if (p.sched_class == SchedClass::stop) return;  // nobody changes a stopper
  Rq& rq = s_.rqs[p.cpu];
  const bool was_fair = p.sched_class == SchedClass::fair;
  const bool fair = class_of(policy) == SchedClass::fair;
  // Only the fair class keeps sleepers queued.
  if (p.se.delayed && !fair) fair_.finish_delayed(rq, p, here.now);
  const bool queued = p.on_rq;
  const bool running = rq.curr == id;
  const int old_prio = p.prio();
  if (queued) {
    if (was_fair) {
      if (fair_.dequeue(rq, p, {}, here.now).resched) resched(here, rq.cpu, true);
    } else {
      rt_.dequeue(rq, p);
    }
  }
  if (running) put_prev(rq, p, here.now);
  set_policy(p, policy, fair ? value : p.nice, fair ? 0 : value);
  const bool lowered = p.prio() > old_prio;
  if (fair) {
    fair_.reweight(rq, p, weight_of(policy, value), here.now);
  } else if (was_fair) {
    fair_.leave_class(rq, p, here.now);
  }
  if (queued) enqueue(here, p, {.head = lowered});
  if (running) set_next(rq, p, here.now, false);
  emit(here, RecordKind::set_sched, id, static_cast<uint8_t>(policy),
       static_cast<uint32_t>(fair ? value + 20 : value));
  if (running) {
    // It may not be the most urgent one any more.
    if (lowered && rq.nr_running > 1) resched(here, rq.cpu, false);
  } else if (queued && p.prio() != old_prio) {
    preempt_check(here, rq, p, false);
  }
}

bool Kernel::set_affinity(Here here, TaskId id, const std::string& cpus) {
  Task& p = s_.tasks[id];
  if (p.sched_class == SchedClass::stop) return true;
  p.allowed = allowed_mask(cpus, s_.rqs.size());
  p.nr_allowed = static_cast<uint32_t>(p.allowed.count());
  return p.allowed.test(here.cpu);
}

void Kernel::yield(Here here) {
  Rq& rq = s_.rqs[here.cpu];
  Task& p = s_.tasks[rq.curr];
  if (p.sched_class == SchedClass::fair) {
    fair_.yield(rq, p, here.now);
  } else if (p.sched_class == SchedClass::rt) {
    rt_.yield(rq, p);
  }
}

void Kernel::schedule(Here here, TaskLeave why, Resume resume) {
  const TaskId prev = s_.rqs[here.cpu].curr;
  if (prev.valid()) {
    Task& p = s_.tasks[prev];
    p.segment_left = resume.left;
    p.user_mode = resume.user_mode;
    if (why == TaskLeave::blocked || why == TaskLeave::exited) {
      dequeue_leaving(here, p, why == TaskLeave::exited);
    }
  }
  const TaskId next = pick_next(here);
  machine_.clear_need_resched(here.cpu);
  if (next != prev) {
    switch_to(here, prev, next, why);
  } else if (prev.valid()) {
    machine_.set_base(here.cpu, machine::Context::task, resume.left, resume.user_mode);
  } else {
    rest(here);
  }
}

void Kernel::dequeue_leaving(Here here, Task& p, bool exits) {
  Rq& rq = s_.rqs[here.cpu];
  p.state = exits ? RunState::dead : RunState::sleeping;
  switch (p.sched_class) {
    case SchedClass::fair:
      fair_.dequeue(rq, p, {.sleep = true, .special = exits}, here.now);
      break;
    case SchedClass::rt:
      rt_.dequeue(rq, p);
      break;
    case SchedClass::stop:
      rq.stop = TaskId::none();
      --rq.nr_running;
      p.on_rq = false;
      break;
    case SchedClass::idle:
      break;
  }
  if (!exits) return;
  if (p.sched_class == SchedClass::fair) fair_.leave_sleeping(rq, p, here.now);
  emit(here, RecordKind::exit, p.id);
  --alive_;
}

TaskId Kernel::pick_next(Here here) {
  Rq& rq = s_.rqs[here.cpu];
  for (;;) {
    if (rq.stop.valid()) return rq.stop;
    if (rq.rt.nr_running != 0) return rt_.pick(rq);
    const TaskId next = fair_.pick(rq, here.now);
    if (next.valid()) return next;
    const BalancePass& pass = balancer_.newidle(here.cpu, here);
    finish_pass(here, pass);
    if (pass.moved.empty()) return TaskId::none();
  }
}

void Kernel::put_prev(Rq& rq, Task& p, SimTime now) {
  if (p.sched_class == SchedClass::fair) {
    fair_.put_prev(rq, p, now);
  } else {
    pelt::advance(rq.rt_avg, clock_ns(now), 1, 1, true);
  }
}

void Kernel::set_next(Rq& rq, Task& p, SimTime now, bool picked) {
  if (p.sched_class == SchedClass::fair) {
    fair_.set_next(rq, p, now, picked);
  } else {
    pelt::advance(rq.rt_avg, clock_ns(now), 0, 0, false);
  }
}

void Kernel::switch_to(Here here, TaskId prev, TaskId next, TaskLeave why) {
  Rq& rq = s_.rqs[here.cpu];
  if (prev.valid()) put_prev(rq, s_.tasks[prev], here.now);
  emit(here, RecordKind::sched_switch, prev,
       static_cast<uint8_t>(prev.valid() ? why : TaskLeave::was_idle), next.value());
  rq.curr = next;
  const auto& costs = machine_.costs();
  Duration cost = next.valid() ? costs.context_switch_ns : Duration{};
  if (next.valid()) {
    const uint32_t mm = s_.tasks[next].mm;
    if (mm != 0 && mm != rq.mm) {
      cost += costs.mm_switch_ns;
      rq.mm = mm;
    }
  }
  if (prev.valid()) s_.tasks[prev].off_cpu_at = here.now + machine_.charged(here.cpu) + cost;
  if (next.valid()) {
    Task& p = s_.tasks[next];
    set_next(rq, p, here.now, true);
    if (!prev.valid()) {
      emit(here, RecordKind::idle_exit, TaskId::none());
      restart_tick(here);
    }
    machine_.switch_base(here.cpu, here.now, machine::Context::task, p.segment_left, p.user_mode,
                         cost);
  } else {
    enter_idle(here);
  }
}

void Kernel::enter_idle(Here here) {
  emit(here, RecordKind::idle_enter, TaskId::none());
  const auto& topology = s_.topology();
  const CpuMask& core = topology.core_cpus(topology.cpu(here.cpu).core);
  LlcShared& llc = s_.llc_of(here.cpu);
  if (topology.has_smt() && !llc.has_idle_cores &&
      std::all_of(core.begin(), core.end(), [&](CpuId c) { return s_.rqs[c].is_idle(); })) {
    llc.has_idle_cores = true;
  }
  machine_.charge(here.cpu, machine_.costs().idle_enter_ns);
  rest(here);
}

// On the way into an idle state the tick stops. Like its restart, that programs the timer hardware
// only if the tick is the CPU's next timer.
void Kernel::rest(Here here) {
  Rq& rq = s_.rqs[here.cpu];
  if (!rq.tick_stopped) {
    if (machine_.next_timer(here.cpu) > machine_.next_tick(here.cpu)) {
      machine_.charge(here.cpu, machine_.costs().tick_stop_ns);
    }
    machine_.stop_tick(here.cpu);
    rq.tick_stopped = true;
    nohz_idle_.set(here.cpu);
  }
  machine_.switch_base(here.cpu, here.now, machine::Context::idle, Duration{}, false, Duration{});
}

bool Kernel::restart_tick(Here here) {
  Rq& rq = s_.rqs[here.cpu];
  if (!rq.tick_stopped) return false;
  rq.tick_stopped = false;
  machine_.start_tick(here.cpu, here.now);
  if (machine_.next_timer(here.cpu) > machine_.next_tick(here.cpu)) {
    machine_.charge(here.cpu, machine_.costs().tick_restart_ns);
  }
  return true;
}

void Kernel::tick(Here here) {
  Rq& rq = s_.rqs[here.cpu];
  machine_.charge(here.cpu, machine_.costs().tick_ns);
  machine_.start_tick(here.cpu, here.now);
  emit(here, RecordKind::tick, rq.curr);
  rq.idle_balance = rq.is_idle();
  if (rq.curr.valid()) {
    Task& p = s_.tasks[rq.curr];
    if (p.sched_class == SchedClass::fair) {
      if (machine_.need_resched_lazy(here.cpu)) machine_.set_need_resched(here.cpu);
      if (fair_.tick(rq, p, here.now)) resched(here, here.cpu, true);
    } else if (p.sched_class == SchedClass::rt) {
      pelt::advance(rq.rt_avg, clock_ns(here.now), 1, 1, true);
      if (rt_.tick(rq, p)) resched(here, here.cpu, false);
    }
  }
  if (machine_.jiffies(here.now) >= rq.next_balance) rq.sched_softirq = true;
  kick_idle_balancer(here);
}

void Kernel::interrupt_exit(Here here) {
  using machine::Context;
  if (machine_.in_interrupt(here.cpu)) return;  // a softirq goes on
  Rq& rq = s_.rqs[here.cpu];
  if (rq.sched_softirq) {
    rq.sched_softirq = false;
    machine_.push(here.cpu, here.now, Context::softirq);
    softirq_sched(here);
    return;
  }
  if (machine_.context(here.cpu) == Context::idle) {
    // Unless it is on its way out of the idle loop already.
    if (machine_.base_left(here.cpu) == Duration{}) idle_loop(here);
    return;
  }
  const bool user = machine_.in_user_mode(here.cpu);
  const bool now =
      machine_.need_resched(here.cpu) && (user || config_.tunables.preempt == Preempt::full ||
                                          config_.tunables.preempt == Preempt::lazy);
  if (now || (user && machine_.need_resched_lazy(here.cpu))) {
    schedule(here, TaskLeave::preempted, {machine_.base_left(here.cpu), user});
  }
}

void Kernel::idle_loop(Here here) {
  Rq& rq = s_.rqs[here.cpu];
  if (!rq.wakelist.empty() || rq.nohz_kicked) call_function(here);
  if (rq.sched_softirq) {
    rq.sched_softirq = false;
    machine_.push(here.cpu, here.now, machine::Context::softirq);
    softirq_sched(here);
    return;
  }
  if (config_.features.sm_idle && rq.nr_running == 0) machine_.clear_need_resched(here.cpu);
  if (!machine_.need_resched(here.cpu)) {
    rest(here);
    return;
  }
  // Restarting the tick takes its time before the scheduling pass begins.
  if (restart_tick(here) && machine_.charged(here.cpu) > Duration{}) {
    machine_.set_base(here.cpu, machine::Context::idle, Duration{}, false);
    return;
  }
  schedule(here, TaskLeave::was_idle, {});
}

}  // namespace runqlab::sched
