#include "machine/machine.h"

#include <algorithm>

namespace runqlab::machine {
namespace {
// Beyond this many CPUs the distance table would not stay in the cache.
constexpr size_t kDistanceTableCpus = 512;
}  // namespace

Machine::Machine(const MachineSpec& spec, EventQueue& queue, Recorder& recorder)
    : spec_(spec),
      queue_(queue),
      recorder_(recorder),
      cpus_(spec.topology.nr_cpus()),
      tick_(spec.tick()) {
  queue_.grow(nr_slots());
  const size_t n = cpus_.size();
  if (n > kDistanceTableCpus) return;
  distances_.reserve(n * n);
  for (size_t a = 0; a < n; ++a) {
    for (size_t b = 0; b < n; ++b) {
      distances_.push_back(machine::distance(spec.topology, CpuId::of(a), CpuId::of(b)));
    }
  }
}

void Machine::set_tracing(const Tracing& tracing) {
  for (size_t i = 0; i < kRecordKinds; ++i) {
    trace_cost_[i] = spec_.costs.trace_event_ns * tracing.events[i];
  }
  runtime_event_cost_ = spec_.costs.trace_event_ns * tracing.runtime_events;
}

SimTime Machine::interrupts_on_at(CpuId c) const {
  const Cpu& cpu = cpus_[c];
  if (cpu.top().context != Context::hardirq) return cpu.interrupts_on;
  return queue_.time_of(slot(CpuEvent::work_done, c));
}

void Machine::push(CpuId c, SimTime now, Context context) {
  Cpu& cpu = cpus_[c];
  RQL_AUDIT(cpu.depth + 1U < cpu.stack.size());
  RQL_AUDIT(!cpu.resting);
  const SimTime end = queue_.time_of(slot(CpuEvent::work_done, c));
  if (end != SimTime::max()) cpu.top().left = end - now;
  cpu.stack[++cpu.depth] = Frame{context, Duration{}};
  if (context == Context::hardirq) cpu.charge += spec_.costs.irq_ns;
}

void Machine::pop(CpuId c) {
  Cpu& cpu = cpus_[c];
  RQL_AUDIT(cpu.depth != 0);
  --cpu.depth;
}

void Machine::set_base(CpuId c, Context context, Duration work, bool user_mode) {
  Cpu& cpu = cpus_[c];
  RQL_AUDIT(cpu.depth == 0);
  cpu.stack[0] = Frame{context, work};
  cpu.user_mode = user_mode;
}

void Machine::switch_base(CpuId c, SimTime now, Context context, Duration work, bool user_mode,
                          Duration cost) {
  set_base(c, context, work, user_mode);
  Cpu& cpu = cpus_[c];
  cpu.charge += cost;
  cpu.interrupts_on = now + cpu.charge;
  cpu.resting = context == Context::idle;
  cpu.rest_since = cpu.interrupts_on;
  // Going idle ends in rest: nothing happens when the cost is over, so no event is needed.
  if (cpu.resting) cpu.charge = Duration{};
}

void Machine::settle(CpuId c, SimTime now) {
  Cpu& cpu = cpus_[c];
  const Duration work = cpu.top().left + cpu.charge;
  cpu.charge = Duration{};
  if (cpu.depth == 0 && cpu.stack[0].context == Context::idle && work == Duration{}) {
    if (!cpu.resting) cpu.rest_since = now;
    cpu.resting = true;
    queue_.disarm(slot(CpuEvent::work_done, c));
    return;
  }
  queue_.arm(slot(CpuEvent::work_done, c), now + work, Phase::work);
}

SimTime Machine::leave_rest(CpuId c, SimTime now) {
  Cpu& cpu = cpus_[c];
  RQL_AUDIT(cpu.resting);
  cpu.resting = false;
  const SimTime from = now < cpu.interrupts_on ? cpu.interrupts_on : now;
  Guest::LateExit late{};
  for (const Guest::LateExit& e : spec_.guest.late_exit) {
    if (from - cpu.rest_since < e.rest) break;
    late = e;
  }
  cpu.charge += late.cold;
  return cpu.interrupts_on = from + spec_.costs.idle_exit_ns + late.exit;
}

void Machine::end_idle(CpuId c, SimTime now) {
  if (!cpus_[c].resting) return;
  queue_.arm(slot(CpuEvent::work_done, c), leave_rest(c, now), Phase::work);
}

void Machine::send_ipi(CpuId from, CpuId to, IpiKind kind, SimTime now) {
  const SimTime sent = now + charged(from);
  charge(from, spec_.costs.ipi_send_ns);
  emit({.time_ns = now.ns(),
        .cpu = from.value(),
        .kind = RecordKind::ipi_send,
        .flags = static_cast<uint8_t>(kind),
        .a = to.value()});
  const SlotId s =
      slot(kind == IpiKind::reschedule ? CpuEvent::resched_ipi : CpuEvent::call_ipi, to);
  if (!queue_.armed(s)) queue_.arm(s, sent + spec_.costs.ipi_latency_ns, Phase::ipi);
}

void Machine::notify(CpuId c, SimTime now) {
  const SlotId s = slot(CpuEvent::resched_ipi, c);
  if (cpus_[c].resting) {
    end_idle(c, now);
  } else if (!queue_.armed(s)) {
    queue_.arm(s, now, Phase::ipi);
  }
}

void Machine::arm_timer(CpuId c, SlotId slot, SimTime at, Duration slack) {
  auto& timers = cpus_[c].timers;
  const Timer timer{at, slot, slack};
  const auto later = [](const Timer& a, const Timer& b) { return b < a; };
  timers.insert(std::lower_bound(timers.begin(), timers.end(), timer, later), timer);
  queue_.arm(slot, at + spec_.costs.timer_latency_ns, Phase::timer);
}

void Machine::timer_fired(CpuId c, SlotId slot) {
  auto& timers = cpus_[c].timers;
  const auto it = std::find_if(timers.rbegin(), timers.rend(),
                               [slot](const Timer& t) { return t.slot == slot; });
  RQL_AUDIT(it != timers.rend());
  timers.erase(std::next(it).base());
  queue_.disarm(slot);
}

void Machine::start_tick(CpuId c, SimTime now) {
  const int64_t past = (now - SimTime{} - tick_offset_).ns();
  const int64_t next = past < 0 ? 0 : (past / tick_.ns() + 1) * tick_.ns();
  queue_.arm(slot(CpuEvent::tick, c), SimTime{} + tick_offset_ + Duration::nanos(next),
             Phase::tick);
}

}  // namespace runqlab::machine
