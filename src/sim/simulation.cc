#include "sim/simulation.h"

#include <algorithm>

namespace runqlab::sim {
namespace {

using machine::CpuEvent;
using sched::Here;

constexpr uint64_t kMaxSameInstant = 10'000'000;

}  // namespace

std::string_view to_string(RunEnd e) {
  switch (e) {
    case RunEnd::all_exited:
      return "all tasks ended";
    case RunEnd::time_up:
      return "time is up";
    case RunEnd::quiescent:
      return "nothing left to happen";
    case RunEnd::livelock:
      return "time stands still";
  }
  return "?";
}

Simulation::Simulation(const RunConfig& config, const Workload& workload, Recorder& recorder)
    : workload_(workload),
      recorder_(recorder),
      rng_(config.seed),
      machine_(config.machine, queue_, recorder),
      kernel_(config.kernel, machine_, workload, rng_),
      runs_(workload.tasks.size()),
      arrived_(config.machine.topology.nr_cpus()) {
  machine_.set_tracing(config.tracing);
  machine_.set_tick_offset(workload.tick_offset);
  const size_t tasks = workload.tasks.size();
  arrival_slot_ = SlotId::of(machine_.nr_slots() + tasks);
  start_slot_ = SlotId::of(arrival_slot_.index() + 1);
  end_slot_ = SlotId::of(arrival_slot_.index() + 2);
  queue_.grow(machine_.nr_slots() + tasks + kOwnSlots);
  for (const PipeSpec& p : workload.pipes) pipes_.emplace_back(p.capacity_pages);
  for (size_t i = 0; i < tasks; ++i) {
    const TaskSpec& spec = workload.tasks[TaskId::of(i)];
    if (spec.start == TaskStart::runnable) starts_.push_back(TaskId::of(i));
    if (spec.start == TaskStart::blocked) {
      begin_program(TaskId::of(i));
      // It waits for its first wakeup before the first op of its program.
      runs_[TaskId::of(i)].waiting = true;
    }
  }
  std::stable_sort(starts_.begin(), starts_.end(), [&](TaskId a, TaskId b) {
    return workload.tasks[a].start_time < workload.tasks[b].start_time;
  });
  if (!starts_.empty()) {
    queue_.arm(start_slot_, workload.tasks[starts_[0]].start_time, Phase::arrival);
  }
  if (workload.end < EventQueue::kMaxTime) queue_.arm(end_slot_, workload.end, Phase::control);
  if (!workload.arrivals.empty()) {
    queue_.arm(arrival_slot_, workload.arrivals[0].time, Phase::arrival);
  }
}

void Simulation::begin_program(TaskId id) {
  runs_[id].program = workload_.tasks[id].program(arena_);
}

RunResult Simulation::run() {
  RunResult r;
  SimTime now;
  uint64_t same_instant = 0;
  set_check_context(
      [](void* arg) {
        for (const Record& rec : static_cast<Recorder*>(arg)->recent().last(
                 std::min<size_t>(static_cast<Recorder*>(arg)->recent().size(), 16))) {
          std::fprintf(stderr, "  t=%lld kind=%d task=%u cpu=%u flags=%u a=%u b=%u c=%llu\n",
                       static_cast<long long>(rec.time_ns), static_cast<int>(rec.kind), rec.task,
                       rec.cpu, rec.flags, rec.a, rec.b, static_cast<unsigned long long>(rec.c));
        }
      },
      &recorder_);
  while (!over_ && kernel_.alive() != 0 && !queue_.empty()) {
    const EventQueue::Event e = queue_.pop();
    ++r.events;
    if (e.time > now) {
      now = e.time;
      same_instant = 0;
      if (now == EventQueue::kMaxTime) over_ = true;  // what comes after would come at this instant
    } else if (++same_instant > kMaxSameInstant) {
      r.end = RunEnd::livelock;
      break;
    }
    dispatch(e);
  }
  set_check_context(nullptr, nullptr);
  if (r.end != RunEnd::livelock) {
    r.end = over_ ? RunEnd::time_up : kernel_.alive() == 0 ? RunEnd::all_exited : RunEnd::quiescent;
  }
  recorder_.flush();
  r.finished = now;
  r.records = recorder_.count();
  r.tasks_left = kernel_.alive();
  r.state_hash = final_hash(recorder_.hash());
  return r;
}

uint64_t Simulation::final_hash(uint64_t records) const {
  Hash64 h(records);
  for (const sched::Task& p : kernel_.state().tasks) {
    h.add(static_cast<uint64_t>(p.state) << 32 | p.cpu.value());
    h.add(static_cast<uint64_t>(p.se.sum_exec_ns));
    h.add(static_cast<uint64_t>(p.se.vruntime));
    h.add(p.se.avg.util_avg << 32 | p.se.avg.load_avg);
  }
  for (const sched::Rq& rq : kernel_.state().rqs) {
    h.add(static_cast<uint64_t>(rq.nr_running) << 32 | rq.curr.value());
    h.add(rq.cfs.avg.load_avg << 32 | rq.cfs.avg.util_avg);
  }
  return h.value();
}

void Simulation::dispatch(EventQueue::Event e) {
  const size_t i = e.slot.index();
  if (i < machine_.nr_slots()) {
    cpu_event(static_cast<CpuEvent>(i % machine::kCpuEvents),
              {CpuId::of(i / machine::kCpuEvents), e.time}, e.slot);
  } else if (e.slot < arrival_slot_) {
    timer_fired(TaskId::of(i - machine_.nr_slots()), e.time, e.slot);
  } else if (e.slot == arrival_slot_) {
    arrivals_due(e.time);
  } else if (e.slot == start_slot_) {
    const TaskId id = starts_[next_start_++];
    begin_program(id);
    // Whoever starts the first tasks is not modelled: they come free of charge.
    const Here here{kernel_.task(id).cpu, e.time};
    kernel_.start(here, id, workload_.tasks[id].settled_util);
    if (machine_.need_resched(here.cpu)) machine_.notify(here.cpu, e.time);
    if (next_start_ < starts_.size()) {
      queue_.arm(start_slot_, workload_.tasks[starts_[next_start_]].start_time, Phase::arrival);
    }
  } else {
    over_ = true;
  }
}

bool Simulation::postponed(CpuId c, SimTime now, SlotId slot, Phase phase) {
  SimTime ready = now;
  if (machine_.resting(c)) {
    ready = machine_.leave_rest(c, now);
  } else if (machine_.interrupts_off(c, now)) {
    ready = machine_.interrupts_on_at(c);
  }
  // A machine without costs is ready at once.
  if (ready == now && !machine_.interrupts_off(c, now)) return false;
  queue_.arm(slot, ready, phase);
  return true;
}

void Simulation::cpu_event(CpuEvent kind, Here here, SlotId slot) {
  const CpuId c = here.cpu;
  if (kind == CpuEvent::work_done) {
    machine_.work_done(c);
    switch (machine_.context(c)) {
      case machine::Context::task:
        continue_task(here);
        return;
      case machine::Context::idle:
        kernel_.idle_loop(here);
        break;
      case machine::Context::softirq:
      case machine::Context::hardirq:
        machine_.pop(c);
        kernel_.interrupt_exit(here);
        break;
    }
    kernel_.settle(here);
    return;
  }
  const Phase phase = kind == CpuEvent::tick     ? Phase::tick
                      : kind == CpuEvent::device ? Phase::arrival
                                                 : Phase::ipi;
  if (postponed(c, here.now, slot, phase)) return;
  begin_interrupt(here);
  switch (kind) {
    case CpuEvent::resched_ipi:
      kernel_.resched_ipi(here);
      break;
    case CpuEvent::call_ipi:
      kernel_.call_ipi(here);
      break;
    case CpuEvent::device:
      device_interrupt(here);
      break;
    case CpuEvent::tick:
      kernel_.tick(here);
      expire_timers(here);
      break;
    case CpuEvent::work_done:
      break;
  }
  kernel_.settle(here);
}

void Simulation::timer_fired(TaskId id, SimTime now, SlotId slot) {
  const Here here{runs_[id].timer_cpu, now};
  if (!machine_.resting(here.cpu) && machine_.serving_timer(here.cpu)) {
    machine_.extend(here.cpu, now);
  } else {
    if (postponed(here.cpu, now, slot, Phase::timer)) return;
    begin_interrupt(here);
    machine_.set_serving_timer(here.cpu);
    machine_.charge(here.cpu, machine_.costs().timer_ns);
  }
  timer_expires(here, id);
  expire_timers(here);
  kernel_.settle(here);
}

void Simulation::timer_expires(Here here, TaskId id) {
  machine_.timer_fired(here.cpu, timer_slot(id));
  kernel_.timer_interrupt(here, id);
  kernel_.wake(here, id, 0, WakeContext::hardirq);
}

// The interrupt of one timer, or the tick, serves others whose slack allows it.
void Simulation::expire_timers(Here here) {
  for (SlotId s = machine_.expirable_timer(here.cpu, here.now); s.valid();
       s = machine_.expirable_timer(here.cpu, here.now)) {
    timer_expires(here, TaskId::of(s.index() - machine_.nr_slots()));
  }
}

// What reaches the machine now goes to the interrupt lines of its CPUs.
void Simulation::arrivals_due(SimTime now) {
  const auto& all = workload_.arrivals;
  for (; next_arrival_ < all.size() && all[next_arrival_].time <= now; ++next_arrival_) {
    const CpuId c = on_machine(all[next_arrival_].cpu);
    arrived_[c].push_back(next_arrival_);
    const SlotId slot = machine::Machine::slot(CpuEvent::device, c);
    if (!queue_.armed(slot)) queue_.arm(slot, now, Phase::arrival);
  }
  if (next_arrival_ < all.size()) {
    queue_.arm(arrival_slot_, all[next_arrival_].time, Phase::arrival);
  }
}

void Simulation::device_interrupt(Here here) {
  auto& pending = arrived_[here.cpu];
  for (; !pending.empty(); pending.pop_front()) {
    const Arrival& a = workload_.arrivals[pending.front()];
    machine_.charge(here.cpu, a.duration);
    if (a.task.valid()) deliver_wake(here, a.task, false, a.context);
  }
}

}  // namespace runqlab::sim
