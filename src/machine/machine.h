// machine/machine.h — what the CPUs do over time: each executes the top of a small stack of
// contexts (hard interrupt over softirq over task or idle); code that runs charges its cost, and
// the cost becomes time of the context that runs it. Only this class arms CPU events.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/id_vector.h"
#include "base/types.h"
#include "engine/event_queue.h"
#include "machine/machine_spec.h"
#include "observe/record/recorder.h"

namespace runqlab::machine {

enum class Context : uint8_t {
  idle,     // base: the idle task
  task,     // base: the current task
  softirq,  // on top of either; interrupts are on
  hardirq,  // interrupts are off
};

// Events that every CPU has a slot for.
enum class CpuEvent : uint8_t {
  work_done,  // the top of the stack used up its time
  resched_ipi,
  call_ipi,
  device,  // an interrupt from outside the machine
  tick,
};
constexpr size_t kCpuEvents = 5;

// How many events a tracer writes where the simulation writes one record, by RecordKind.
struct Tracing {
  std::array<uint8_t, kRecordKinds> events{};
  uint8_t runtime_events = 0;  // sched_stat_runtime, one for each update of the current task

  bool operator==(const Tracing&) const = default;
};

class Machine {
 public:
  Machine(const MachineSpec& spec, EventQueue& queue, Recorder& recorder);

  [[nodiscard]] size_t nr_cpus() const { return cpus_.size(); }
  [[nodiscard]] const Costs& costs() const { return spec_.costs; }
  [[nodiscard]] const MachineSpec& spec() const { return spec_; }
  [[nodiscard]] const Topology& topology() const { return spec_.topology; }
  [[nodiscard]] Distance distance(CpuId a, CpuId b) const {
    return distances_.empty() ? machine::distance(spec_.topology, a, b)
                              : distances_[a.index() * cpus_.size() + b.index()];
  }

  // Event slots of CPUs come first, CPU by CPU.
  [[nodiscard]] static SlotId slot(CpuEvent e, CpuId c) {
    return SlotId::of(c.index() * kCpuEvents + static_cast<size_t>(e));
  }
  [[nodiscard]] size_t nr_slots() const { return kCpuEvents * cpus_.size(); }

  // --- Contexts ------------------------------------------------------------------------------

  [[nodiscard]] Context context(CpuId c) const { return cpus_[c].top().context; }
  [[nodiscard]] bool in_interrupt(CpuId c) const { return cpus_[c].depth != 0; }
  // Whether the base context could be preempted right now by an interrupt's exit (user mode).
  [[nodiscard]] bool in_user_mode(CpuId c) const { return cpus_[c].user_mode; }
  // Time left of the base context's segment. Valid while something runs on top of it, or at the
  // instant of its own work_done.
  [[nodiscard]] Duration base_left(CpuId c) const { return cpus_[c].stack[0].left; }

  // Cost of code that runs on `c` at this instant; settle() turns it into time.
  void charge(CpuId c, Duration d) { cpus_[c].charge += d; }
  [[nodiscard]] Duration charged(CpuId c) const { return cpus_[c].charge; }

  // Whether an interrupt that reaches `c` at `now` must wait, and until when.
  [[nodiscard]] bool interrupts_off(CpuId c, SimTime now) const {
    const Cpu& cpu = cpus_[c];
    return now < cpu.interrupts_on || cpu.top().context == Context::hardirq;
  }
  [[nodiscard]] SimTime interrupts_on_at(CpuId c) const;

  // An interrupt or softirq begins on top of what runs; its cost so far is what was charged.
  void push(CpuId c, SimTime now, Context context);
  // What is charged next belongs to the interrupt that is being served on `c` already.
  void extend(CpuId c, SimTime now) {
    cpus_[c].top().left = queue_.time_of(slot(CpuEvent::work_done, c)) - now;
  }
  // The timer interrupt handles what expires while it runs.
  void set_serving_timer(CpuId c) { cpus_[c].top().timer = true; }
  [[nodiscard]] bool serving_timer(CpuId c) const { return cpus_[c].top().timer; }
  // The top of the stack is over; what was below goes on at settle().
  void pop(CpuId c);
  // The base context starts a segment of `work` (idle: rests until something pokes it).
  void set_base(CpuId c, Context context, Duration work, bool user_mode);
  // A switch: the base context changes and interrupts stay off for `cost` from `now`, on top of
  // what was charged.
  void switch_base(CpuId c, SimTime now, Context context, Duration work, bool user_mode,
                   Duration cost);
  // The top context used up its time (called once per work_done event).
  void work_done(CpuId c) { cpus_[c].top().left = Duration{}; }
  // Arms the next work_done of `c`: time left of the top context plus what was charged.
  void settle(CpuId c, SimTime now);

  // --- Flags and interrupts between CPUs -----------------------------------------------------

  [[nodiscard]] bool need_resched(CpuId c) const { return cpus_[c].need_resched; }
  void set_need_resched(CpuId c) { cpus_[c].need_resched = true; }
  [[nodiscard]] bool need_resched_lazy(CpuId c) const { return cpus_[c].need_resched_lazy; }
  void set_need_resched_lazy(CpuId c) { cpus_[c].need_resched_lazy = true; }
  void clear_need_resched(CpuId c) {
    cpus_[c].need_resched = false;
    cpus_[c].need_resched_lazy = false;
  }
  // The idle task watches its flags: setting need_resched is enough, no interrupt.
  [[nodiscard]] bool polling(CpuId c) const {
    return spec_.idle_polls && cpus_[c].stack[0].context == Context::idle && cpus_[c].resting;
  }
  // A CPU at rest begins to leave its idle state; the answer is when it can take an interrupt.
  SimTime leave_rest(CpuId c, SimTime now);
  // The idle task noticed its flags: work_done fires after the exit latency. Nothing happens when
  // the CPU does not rest.
  void end_idle(CpuId c, SimTime now);
  // The CPU rests in an idle state: no code runs.
  [[nodiscard]] bool resting(CpuId c) const { return cpus_[c].resting; }

  // The host has taken the halted virtual CPU off its own: to the guest it looks preempted.
  [[nodiscard]] bool vcpu_preempted(CpuId c, SimTime now) const {
    const Cpu& cpu = cpus_[c];
    return spec_.guest.gone_after && cpu.resting && now - cpu.rest_since > *spec_.guest.gone_after;
  }

  // Sends an interrupt from code that runs on `from`; both kinds are merged with one under way.
  void send_ipi(CpuId from, CpuId to, IpiKind kind, SimTime now);
  // need_resched was set on `c` by nobody on this machine: a CPU at rest notices it, another one
  // gets a reschedule interrupt at once.
  void notify(CpuId c, SimTime now);

  // --- Ticks ---------------------------------------------------------------------------------

  void set_tick_offset(Duration offset) { tick_offset_ = offset; }
  // Arms the CPU's next tick after `now`.
  void start_tick(CpuId c, SimTime now);
  [[nodiscard]] SimTime next_tick(CpuId c) const { return queue_.time_of(slot(CpuEvent::tick, c)); }
  void stop_tick(CpuId c) { queue_.disarm(slot(CpuEvent::tick, c)); }
  [[nodiscard]] int64_t jiffies(SimTime now) const {
    return (now - SimTime{} - tick_offset_).ns() / tick_.ns();
  }
  [[nodiscard]] Duration tick() const { return tick_; }

  // --- Timers of tasks -----------------------------------------------------------------------

  // A timer of CPU `c` that expires at `at`, or up to `slack` earlier when a timer interrupt comes
  // anyway; its handler starts timer_latency_ns later.
  void arm_timer(CpuId c, SlotId slot, SimTime at, Duration slack);
  // The handler of this timer of `c` starts.
  void timer_fired(CpuId c, SlotId slot);
  // A timer interrupt is being served: the next timer of `c`, in order of expiry, if it may expire
  // at `now`, else none.
  [[nodiscard]] SlotId expirable_timer(CpuId c, SimTime now) const {
    const auto& timers = cpus_[c].timers;
    const bool may = !timers.empty() && timers.back().at - timers.back().slack <= now;
    return may ? timers.back().slot : SlotId::none();
  }
  // SimTime::max() when none is armed.
  [[nodiscard]] SimTime next_timer(CpuId c) const {
    const auto& timers = cpus_[c].timers;
    return timers.empty() ? SimTime::max() : timers.back().at;
  }

  // --- Records -------------------------------------------------------------------------------

  // The simulated machine is being traced: every event that its tracer writes costs CPU time.
  void set_tracing(const Tracing& tracing);
  // Writes a record; by code that runs on r.cpu.
  void emit(const Record& r) {
    recorder_.emit(r);
    cpus_[r.cpu_id()].charge += trace_cost_[static_cast<size_t>(r.kind)];
  }
  // The tracer's share of `n` sched_stat_runtime events, which are no records.
  void charge_runtime_events(CpuId c, uint32_t n) { cpus_[c].charge += runtime_event_cost_ * n; }

 private:
  struct Timer {
    SimTime at;
    SlotId slot;
    Duration slack;
    bool operator<(const Timer& o) const { return at != o.at ? at < o.at : slot < o.slot; }
  };
  struct Frame {
    Context context = Context::idle;
    Duration left{};
    bool timer = false;  // the timer interrupt
  };
  struct Cpu {
    std::array<Frame, 4> stack{};
    uint8_t depth = 0;
    bool user_mode = false;
    bool need_resched = false;
    bool need_resched_lazy = false;
    bool resting = true;
    SimTime interrupts_on{};    // a switch holds interrupts off until then
    std::vector<Timer> timers;  // latest first
    SimTime rest_since{};       // meaningful while resting
    Duration charge{};

    [[nodiscard]] const Frame& top() const { return stack[depth]; }
    Frame& top() { return stack[depth]; }
  };

  const MachineSpec& spec_;
  EventQueue& queue_;
  Recorder& recorder_;
  IdVector<CpuId, Cpu> cpus_;
  std::vector<Distance> distances_;
  Duration tick_;
  Duration tick_offset_{};
  std::array<Duration, kRecordKinds> trace_cost_{};
  Duration runtime_event_cost_{};
};

}  // namespace runqlab::machine
