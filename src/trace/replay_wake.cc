// Wakeups: by a task, by a softirq at the end of a task's send, by a timer, by the outside.
#include <algorithm>

#include "trace/replay_builder.h"

namespace runqlab::trace {
namespace {

constexpr int kSoftirqTimer = 1;
constexpr int kSoftirqNetRx = 3;
constexpr int kSoftirqHrtimer = 8;

}  // namespace

// Interrupt windows with a beginning and an end are measured and taken out of the burst; handlers
// that show their beginning only are taken out by the machine's costs (charge_recorded).
void ReplayBuilder::interrupt_event(const Event& e, CpuTrack& c) {
  const auto open = [&] {
    if (c.open_irqs++ == 0) c.irq_began = e.time_ns;
  };
  const auto close = [&] {
    if (c.open_irqs == 0) return;
    --c.open_irqs;
    if (c.open_irqs != 0) return;
    const bool own = c.own_softirq;
    c.own_softirq = false;
    c.softirq_vector = -1;
    c.source = IrqSource::none;
    if (c.current >= kIdle) return;
    if (own) {
      if (!c.send_woke) note_silent_send(tracks_[c.current], e.time_ns);
      return;
    }
    tracks_[c.current].irq_ns += e.time_ns - c.irq_began;
  };
  switch (e.kind) {
    case EventKind::irq_handler_entry:
      c.source = IrqSource::device;
      open();
      break;
    case EventKind::irq_handler_exit:
      close();
      break;
    case EventKind::softirq_raise:
      // In task context (a send over loopback), or while such a send's softirq runs.
      if (e.value == kSoftirqNetRx) {
        c.raised_by_task =
            c.open_irqs == 0 ? c.current < kIdle && !in_interrupt(e, c) : c.own_softirq;
      }
      break;
    case EventKind::softirq_entry:
      c.softirq_vector = static_cast<int>(e.value);
      c.source = IrqSource::other;
      if (e.value == kSoftirqNetRx && c.raised_by_task) {
        c.own_softirq = true;
        c.send_woke = c.raised_by_task = false;
      }
      if (e.value == kSoftirqTimer || e.value == kSoftirqHrtimer) c.source = IrqSource::timer;
      open();
      break;
    case EventKind::softirq_exit:
      close();
      break;
    case EventKind::vector_exit:
      c.in_vector = false;
      break;
    case EventKind::vector_entry:
      c.in_vector = true;
      c.source = names_.text(e.name) == "local_timer" ? IrqSource::timer : IrqSource::other;
      break;
    case EventKind::hrtimer_expire:
      c.source = IrqSource::timer;
      break;
    default:
      break;
  }
}

// What the recorded machine spent on `e` and the simulation will spend again: taken out of the
// burst.
void ReplayBuilder::charge_recorded(const Event& e, CpuTrack& c) {
  if (c.current >= kIdle) return;
  const auto& costs = machine_.costs;
  Duration debt{};
  bool traced = true;  // the simulation's tracer writes this event too
  switch (e.kind) {
    case EventKind::sched_waking:
    case EventKind::sched_migrate_task:
    case EventKind::sched_process_fork:
    case EventKind::sched_process_exit:
    case EventKind::sched_stat_runtime:
    case EventKind::softirq_raise:
      break;
    case EventKind::hrtimer_expire:
      debt = names_.text(e.name).starts_with("tick_") ? costs.tick_ns : costs.timer_ns;
      break;
    case EventKind::ipi_send:
      debt = costs.ipi_send_ns;
      break;
    case EventKind::vector_entry: {
      // What the timer interrupt was for is in the hrtimer events; without them, the tick.
      const bool tick = seen_[static_cast<size_t>(EventKind::hrtimer_expire)] == 0 &&
                        names_.text(e.name) == "local_timer";
      debt = costs.irq_ns + (tick ? costs.tick_ns : Duration{});
      break;
    }
    default:
      traced = false;
      break;
  }
  // Events inside a measured interrupt are part of it.
  if (c.open_irqs != 0 && !c.own_softirq) return;
  if (traced) debt += costs.trace_event_ns;
  if (debt == Duration{}) return;
  TaskTrack& t = tracks_[c.current];
  t.advance(e.time_ns);
  t.run_op().debt_ns += debt.ns();
}

// The block was a sleep until the task's own timer went off.
void ReplayBuilder::end_sleep_by_timer(TaskTrack& t, size_t block_op, int64_t from_ns,
                                       int64_t until_ns) {
  t.ops[block_op].op =
      op::bare(op::sleep(Duration::nanos(std::max<int64_t>(1, until_ns - from_ns))));
  t.timer_sleeps.push_back({block_op, from_ns, until_ns});
  ++counts_.timers;
}

void ReplayBuilder::waking(const Event& e) {
  CpuTrack& c = cpu_of(e);
  const uint32_t wakee = track_of(e.task_pid, e.task_comm);
  if (wakee >= kIdle) return;
  TaskTrack& t = tracks_[wakee];
  if (!t.has_prio) set_prio(t, e.prio, t);
  const bool by_task = c.current < kIdle;
  record(e, RecordKind::waking, wakee, wake_flags::kTtwu,
         by_task ? id_of(c.current).value() : TaskId::none().value(), 0, t.wakeups++);
  const bool interrupt = in_interrupt(e, c);
  if (by_task && !interrupt) {
    task_wakes(e, c.current, wakee, false);
  } else if (by_task && c.own_softirq) {
    c.send_woke = true;
    task_wakes(e, c.current, wakee, true);
  } else {
    interrupt_wakes(e, c, wakee);
  }
}

void ReplayBuilder::task_wakes(const Event& e, uint32_t waker, uint32_t wakee, bool softirq) {
  TaskTrack& w = tracks_[waker];
  TaskTrack& t = tracks_[wakee];
  const bool known_block = t.where == Where::blocked;
  w.advance(e.time_ns);
  const RawOp wake{
      .op = op::bare(op::wake(t.id, false, softirq ? WakeContext::softirq : WakeContext::task))};
  const PendingWake pending{
      .time_ns = e.time_ns, .cpu = e.cpu, .waker = waker, .op = w.ops.size(), .is_set = true};
  w.ops.push_back(wake);
  w.run_op();
  note_wake(w, wakee, pending.op);
  if (is_stopper_of(e.cpu, t)) w.woke_stopper = true;
  switch (t.where) {
    case Where::unknown:
      first_seen(t, Where::blocked, TaskStart::blocked, start_ns_);
      [[fallthrough]];
    case Where::blocked:
      // A wakeup that came while it still ran did not end this block after all.
      if (t.early.is_set) {
        tracks_[t.early.waker].ops[t.early.op].dropped = true;
        ++counts_.not_blocked;
        t.early = {};
      }
      t.woken = pending;
      note_woken(t, waker);
      if (!e.context.known && !softirq) {
        unflagged_.push_back({.time_ns = e.time_ns,
                              .blocked_at_ns = t.blocked_at_ns,
                              .waker = waker,
                              .wakee = wakee,
                              .op = pending.op,
                              .block_op = known_block ? std::optional(t.block_op) : std::nullopt,
                              .cpu = e.cpu});
      }
      ++(softirq ? counts_.softirq_edges : counts_.task_edges);
      end_block(t, e.time_ns);
      break;
    case Where::running:
      // It may be about to block: its own switch decides.
      if (t.early.is_set) {
        tracks_[t.early.waker].ops[t.early.op].dropped = true;
        ++counts_.not_blocked;
      }
      t.early = pending;
      break;
    case Where::runnable:
    case Where::gone:
      tracks_[waker].ops[pending.op].dropped = true;
      ++counts_.not_blocked;
      break;
  }
}

void ReplayBuilder::interrupt_wakes(const Event& e, const CpuTrack& c, uint32_t wakee) {
  TaskTrack& t = tracks_[wakee];
  const bool known_block = t.where == Where::blocked;
  if (t.where == Where::unknown) first_seen(t, Where::blocked, TaskStart::blocked, start_ns_);
  if (t.where != Where::blocked) {
    ++counts_.not_blocked;
    return;
  }
  if (t.early.is_set) {
    tracks_[t.early.waker].ops[t.early.op].dropped = true;
    ++counts_.not_blocked;
    t.early = {};
  }
  const bool own_request = t.block_state == TaskState::uninterruptible;
  // Without any interrupt events in the recording the idle task as the waker says no more than
  // "an interrupt": taken for the sleeper's own timer.
  const bool timer =
      c.source == IrqSource::timer || (c.source == IrqSource::none && c.softirq_vector < 0);
  bool relative = own_request || timer;
  if (options_.irq_wakeups == IrqWakeups::relative) relative = true;
  if (options_.irq_wakeups == IrqWakeups::absolute) relative = false;
  // The simulation adds the way out of idle and the timer's delivery again.
  const Duration exit = c.current == kIdle ? machine_.costs.idle_exit_ns : Duration{};
  if (c.current == kIdle) ++t.woken_over_idle;
  if (relative && known_block) {
    const int64_t until = e.time_ns - exit.ns();
    if (own_request && !timer) {
      Op& block = t.ops[t.block_op].op;
      block = op::bare(op::sleep(Duration::nanos(std::max<int64_t>(1, until - t.blocked_at_ns))));
      block.target = e.cpu.value();
      ++counts_.requests;
    } else {
      end_sleep_by_timer(t, t.block_op, t.blocked_at_ns,
                         until - (timer ? machine_.costs.timer_latency_ns.ns() : 0));
    }
  } else {
    arrivals_.push_back(
        {.time = std::max(SimTime{}, sim_time(e.time_ns) - exit),
         .cpu = e.cpu,
         .task = t.id,
         .context = e.context.softirq ? WakeContext::softirq : WakeContext::hardirq});
    ++counts_.arrivals;
  }
  t.woken = {};
  note_woken(t, kUnknown);
  end_block(t, e.time_ns);
}

void ReplayBuilder::end_block(TaskTrack& t, int64_t now) {
  t.where = Where::runnable;
  begin_wait(t, now);
  last_runnable_ns_ = now;
}

// The wakee runs: now it is known how it was queued, and with that what the waker paid.
void ReplayBuilder::resolve_path(TaskTrack& wakee, CpuId ran_on, bool was_idle, bool preempted) {
  const PendingWake w = wakee.woken;
  wakee.woken = {};
  if (!w.is_set) return;
  const auto& costs = machine_.costs;
  const bool has_ipi_events = seen_[static_cast<size_t>(EventKind::ipi_send)] != 0;
  Duration paid = costs.wakeup_ns;
  if (ran_on != w.cpu) {
    if (was_idle) {
      paid = costs.wakelist_ns;
      if (!has_ipi_events && !machine_.idle_polls) paid += costs.ipi_send_ns;
    } else {
      paid += costs.rq_remote_llc_ns;
      if (!has_ipi_events && preempted) paid += costs.ipi_send_ns;
    }
  }
  // The run op right behind the wakeup.
  TaskTrack& waker = tracks_[w.waker];
  size_t i = w.op + 1;
  while (i < waker.ops.size() && waker.ops[i].op.kind != OpKind::run) ++i;
  if (i < waker.ops.size()) waker.ops[i].debt_ns += paid.ns();
}

}  // namespace runqlab::trace
