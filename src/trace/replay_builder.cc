// Runs and blocks: who was on which CPU, and why a task left it.
#include "trace/replay_builder.h"

#include <algorithm>

#include "trace/kernel_threads.h"

namespace runqlab::trace {
namespace {

// A switch-out this soon after a tick may be the tick's doing.
constexpr int64_t kTickReachNs = 300'000;

bool ends_life(TaskState s) { return s == TaskState::dead || s == TaskState::zombie; }

}  // namespace

ReplayBuilder::ReplayBuilder(const machine::MachineSpec& machine, const ReplayOptions& options,
                             std::string file, StringPool& names, RecordSink& recorded,
                             Diagnostics& diagnostics)
    : machine_(machine),
      options_(options),
      file_(std::move(file)),
      names_(names),
      recorded_(recorded),
      diagnostics_(diagnostics) {}

void ReplayBuilder::record(const Event& e, RecordKind kind, uint32_t task, uint8_t flags,
                           uint32_t a, uint32_t b, uint64_t c) {
  chunk_.push_back({.time_ns = e.time_ns - start_ns_,
                    .task = id_of(task).value(),
                    .cpu = e.cpu.value(),
                    .kind = kind,
                    .flags = flags,
                    .a = a,
                    .b = b,
                    .c = c});
  if (chunk_.size() == 2048) {
    recorded_.consume(chunk_);
    chunk_.clear();
  }
}

ReplayBuilder::CpuTrack& ReplayBuilder::cpu_of(const Event& e) {
  if (e.cpu.index() >= cpus_.size()) cpus_.resize(e.cpu.index() + 1);
  return cpus_[e.cpu.index()];
}

uint32_t ReplayBuilder::track_of(int32_t pid, StrId comm) {
  if (pid == 0) return kIdle;
  const auto it = by_pid_.find(pid);
  if (it != by_pid_.end()) {
    if (comm.valid()) tracks_[it->second].comm = comm;
    return it->second;
  }
  const auto i = static_cast<uint32_t>(tracks_.size());
  TaskTrack t;
  t.id = TaskId(i);
  t.pid = pid;
  t.comm = comm;
  t.start_ns = start_ns_;  // until it is first seen
  tracks_.push_back(std::move(t));
  by_pid_[pid] = i;
  return i;
}

void ReplayBuilder::first_seen(TaskTrack& t, Where where, TaskStart start, int64_t now) {
  t.where = where;
  t.start = start;
  t.start_ns = now;
}

int64_t ReplayBuilder::idle_time(const CpuTrack& c, int64_t now) const {
  return c.idle_total + (c.current == kIdle ? now - c.idle_since : 0);
}

void ReplayBuilder::begin_wait(TaskTrack& t, int64_t now) {
  t.waiting_since_ns = now;
  t.idle_at_wait.resize(cpus_.size());
  for (size_t i = 0; i < cpus_.size(); ++i) t.idle_at_wait[i] = idle_time(cpus_[i], now);
}

// Waits behind another task, while some CPU had nothing to do, are the evidence for affinity.
void ReplayBuilder::end_wait(TaskTrack& t, int64_t now, bool behind_task) {
  if (!behind_task || t.idle_at_wait.empty()) return;
  t.evidence.resize(cpus_.size());
  for (size_t i = 0; i < t.idle_at_wait.size(); ++i) {
    CpuEvidence& e = t.evidence[i];
    const int64_t idle = idle_time(cpus_[i], now) - t.idle_at_wait[i];
    const int64_t waited = now - t.waiting_since_ns;
    e.idle_ns += idle;
    e.waited_ns += waited;
    ++e.waits;
    if (waited >= machine_.tick().ns() * 9 / 10 && 2 * idle >= waited) ++e.long_waits;
  }
}

// A priority that changed is a call of `by`; where in its run is not recorded: here, at its end.
void ReplayBuilder::set_prio(TaskTrack& t, int prio, TaskTrack& by) {
  if (!t.has_prio) {
    t.has_prio = true;
    t.prio = t.first_prio = prio;
    return;
  }
  if (t.prio == prio) return;
  t.prio = prio;
  const SchedParams p = params_of(prio);
  by.ops.push_back({.op = op::bare(op::set_sched(
                        t.id, p.policy, p.policy == Policy::normal ? p.nice : p.rt_priority))});
}

void ReplayBuilder::add(const Event& e) {
  if (refusal_) return;
  // The import has counted and reported the events that come too late.
  if (started_ && e.time_ns < last_ns_) {
    Event now = e;
    now.time_ns = last_ns_;
    return add(now);
  }
  if (e.kind == EventKind::sched_wakeup && !wakeup_counts()) return;
  if (!started_) {
    started_ = true;
    start_ns_ = e.time_ns;
  }
  check_size(e);
  if (refusal_) return;
  last_ns_ = e.time_ns;
  if (!e.cpu.valid()) {
    diagnostics_.add(Severity::skipped, "events without a CPU", at(e, "no CPU"));
    return;
  }
  ++seen_[static_cast<size_t>(e.kind)];
  CpuTrack& c = cpu_of(e);
  if (e.kind != EventKind::sched_switch) repair_current(e);
  if (e.context.need_resched && c.current < kIdle) tracks_[c.current].preempt_seen = true;
  if (e.context.known ? !in_interrupt(e, c) : e.kind == EventKind::sched_switch) {
    c.in_vector = false;  // its exit may not be recorded
    if (c.open_irqs == 0) c.source = IrqSource::none;
  }
  charge_recorded(e, c);
  switch (e.kind) {
    case EventKind::sched_switch:
      sched_switch(e);
      break;
    case EventKind::sched_waking:
      waking(e);
      break;
    case EventKind::sched_wakeup:
      waking(e);
      break;
    case EventKind::sched_process_fork:
      fork(e);
      break;
    case EventKind::sched_pi_setprio: {
      // Priority inheritance: the current task raises or lowers another one.
      const uint32_t i = track_of(e.task_pid, e.task_comm);
      if (i >= kIdle) break;
      TaskTrack& by = tracks_[c.current < kIdle ? c.current : i];
      if (by.where == Where::running) by.advance(e.time_ns);
      set_prio(tracks_[i], e.other_prio, by);
      break;
    }
    case EventKind::sched_migrate_task:
      migrated(e, c);
      break;
    case EventKind::sched_process_exec:
      executed(c);
      break;
    default:
      interrupt_event(e, c);
      break;
  }
}

// A task that wakes the stopper of its own CPU, waits for it and is moved by it asked for that: its
// new affinity excludes the CPU (sched_setaffinity).
void ReplayBuilder::migrated(const Event& e, const CpuTrack& c) {
  const uint32_t i = track_of(e.task_pid, e.task_comm);
  if (i >= kIdle || c.current >= kIdle || !e.cpu.valid()) return;
  TaskTrack& t = tracks_[i];
  // Woken just before if it had left the queue, just after if not.
  const bool waits = t.where == Where::blocked || t.where == Where::runnable;
  if (!t.woke_stopper || !waits || t.cpu != e.cpu || e.target == e.cpu) return;
  if (!is_stopper_of(e.cpu, tracks_[c.current])) return;
  t.evidence.resize(cpus_.size());
  t.evidence[e.cpu.index()].excluded = true;
}

// execve moves a task to an idle CPU in the same way, so that what was seen before says nothing.
void ReplayBuilder::executed(const CpuTrack& c) {
  if (c.current >= kIdle) return;
  for (CpuEvidence& e : tracks_[c.current].evidence) e.excluded = false;
}

// Whether `t` is the stopper of `cpu`.
bool ReplayBuilder::is_stopper_of(CpuId cpu, const TaskTrack& t) const {
  if (!t.comm.valid()) return false;
  const std::string& comm = names_.text(t.comm);
  return is_stopper(comm, t.prio) && percpu_thread_cpu(comm) == cpu.value();
}

// sched_wakeup says nothing that a re-run may use, and many recordings have none: it is not looked
// at. Where it is the only event of a wakeup (sched_waking came with Linux 4.3), it stands for it.
bool ReplayBuilder::wakeup_counts() const {
  constexpr uint64_t kEnoughSwitches = 64;
  return seen_[static_cast<size_t>(EventKind::sched_waking)] == 0 &&
         seen_[static_cast<size_t>(EventKind::sched_switch)] >= kEnoughSwitches;
}

// An event in the context of a task that the switches so far do not put there: a switch is missing.
void ReplayBuilder::repair_current(const Event& e) {
  CpuTrack& c = cpu_of(e);
  if (e.pid < 0) return;
  const uint32_t now_current = track_of(e.pid, StrId::none());
  if (!c.seen) {
    c.seen = true;
    if (now_current == kIdle) {
      c.current = kIdle;
      c.idle_since = start_ns_;
      return;
    }
    TaskTrack& t = tracks_[now_current];
    if (t.where == Where::unknown) first_seen(t, Where::runnable, TaskStart::runnable, start_ns_);
    switch_in(c, e.cpu, start_ns_, now_current, false);
    return;
  }
  if (c.current == now_current) return;
  diagnostics_.add(Severity::repair, "switches that are missing in the recording",
                   at(e, "pid " + std::to_string(e.pid) + " acts on CPU " +
                             std::to_string(e.cpu.value()) + " without a switch to it"));
  const bool was_idle = c.current == kIdle;
  const uint32_t before = c.current;
  switch_out(c, e, before, TaskState::running, true, now_current);
  record(e, RecordKind::sched_switch, before,
         static_cast<uint8_t>(was_idle ? TaskLeave::was_idle : TaskLeave::preempted),
         id_of(now_current).value());
  switch_in(c, e.cpu, e.time_ns, now_current, was_idle);
}

// Runs that end in state R were preempted, or the task yielded: nothing had asked for a reschedule.
// Whoever became runnable during the run may have, also for the benefit of another task.
bool ReplayBuilder::was_yield(const TaskTrack& t, const Event& e) const {
  if (e.preempted || t.preempt_seen || last_runnable_ns_ >= t.run_start_ns) return false;
  // With flags, the event in the scheduling pass would have shown the tick's request.
  if (e.context.known && seen_[static_cast<size_t>(EventKind::sched_stat_runtime)] != 0)
    return true;
  return e.time_ns % machine_.tick().ns() > kTickReachNs;
}

void ReplayBuilder::sched_switch(const Event& e) {
  CpuTrack& c = cpu_of(e);
  const uint32_t prev = track_of(e.task_pid, e.task_comm);
  const uint32_t next = track_of(e.other_pid, e.other_comm);
  if (!c.seen) {
    // It ran when the recording began.
    c.seen = true;
    if (prev == kIdle) {
      c.current = kIdle;
      c.idle_since = start_ns_;
    } else {
      TaskTrack& t = tracks_[prev];
      if (t.where == Where::unknown) {
        first_seen(t, Where::runnable, TaskStart::runnable, start_ns_);
      }
      switch_in(c, e.cpu, start_ns_, prev, false);
    }
  } else if (c.current != prev) {
    diagnostics_.add(Severity::repair, "switches from a task that was not running",
                     at(e, "pid " + std::to_string(e.task_pid) + " leaves CPU " +
                               std::to_string(e.cpu.value()) + " but was not seen on it"));
    const bool was_idle = c.current == kIdle;
    switch_out(c, e, c.current, TaskState::running, true, prev);
    switch_in(c, e.cpu, e.time_ns, prev, was_idle);
  }
  const bool prev_idle = prev == kIdle;
  if (!prev_idle) {
    TaskTrack& t = tracks_[prev];
    t.advance(e.time_ns);
    set_prio(t, e.prio, t);
  }
  switch_out(c, e, prev, e.state, e.preempted, next);
  if (next < kIdle && !tracks_[next].has_prio) {
    set_prio(tracks_[next], e.other_prio, tracks_[next]);
  }
  switch_in(c, e.cpu, e.time_ns, next, prev_idle);
}

void ReplayBuilder::switch_out(CpuTrack& c, const Event& e, uint32_t prev, TaskState state,
                               bool preempted, uint32_t next) {
  const int64_t now = e.time_ns;
  TaskLeave leave = TaskLeave::was_idle;
  if (prev == kIdle) {
    c.idle_total += now - c.idle_since;
  } else if (prev < kIdle) {
    TaskTrack& t = tracks_[prev];
    t.advance(now);
    t.evidence.resize(cpus_.size());
    t.evidence[t.cpu.index()].left_at_op = t.ops.size();
    Event seen = e;
    seen.preempted = preempted;
    if (state == TaskState::running) {
      leave = TaskLeave::preempted;
      t.where = Where::runnable;
      if (next < kIdle) note_preempted(prev, next);
      if (was_yield(t, seen)) {
        leave = TaskLeave::yielded;
        ++counts_.yields;
        t.ops.push_back({.op = op::bare(op::yield())});
      }
      begin_wait(t, now);
    } else if (ends_life(state)) {
      leave = TaskLeave::exited;
      t.where = Where::gone;
      by_pid_.erase(t.pid);
    } else {
      leave = TaskLeave::blocked;
      t.where = Where::blocked;
      t.block_state = state;
      t.blocked_at_ns = now;
      note_block(t);
      t.block_op = t.ops.size();
      t.ops.push_back({.op = op::bare(op::block())});
    }
  }
  c.current = kUnknown;
  // Switches that were repaired are recorded by the caller, which knows both sides.
  if (e.kind != EventKind::sched_switch) return;
  if (prev != kUnknown) {
    record(e, RecordKind::sched_switch, prev, static_cast<uint8_t>(leave), id_of(next).value());
  }
  if (leave == TaskLeave::exited) record(e, RecordKind::exit, prev);
}

void ReplayBuilder::switch_in(CpuTrack& c, CpuId cpu, int64_t now, uint32_t next,
                              bool prev_was_idle) {
  const bool was_idle_since = prev_was_idle;
  const int64_t idle_began = c.idle_since;
  c.current = next;
  c.raised_by_task = false;
  if (next == kIdle) {
    c.idle_since = now;
    return;
  }
  if (next == kUnknown) return;
  TaskTrack& t = tracks_[next];
  if (!t.first_cpu.valid()) t.first_cpu = cpu;
  switch (t.where) {
    case Where::unknown:
      // Its wakeup was not recorded. It may have been queued from the beginning, unless its CPU
      // had nothing to do.
      first_seen(t, Where::runnable, TaskStart::runnable,
                 was_idle_since || idle_time(c, now) > 0 ? now : start_ns_);
      break;
    case Where::blocked:
      if (t.early.is_set) {
        t.woken = t.early;
        note_woken(t, t.early.waker);
        ++counts_.task_edges;
      } else {
        // Its wakeup is missing: it comes from outside, just before.
        diagnostics_.add(Severity::repair, "wakeups that are missing in the recording");
        t.woken = {};
        ++counts_.arrivals;
        arrivals_.push_back({.time = sim_time(now), .cpu = cpu, .task = t.id});
      }
      break;
    case Where::runnable:
      break;
    case Where::running:
      diagnostics_.add(Severity::repair, "tasks that ran on two CPUs at once");
      t.advance(now);
      break;
    case Where::gone:
      diagnostics_.add(Severity::repair, "tasks that ran after their end");
      break;
  }
  if (t.early.is_set && t.where != Where::blocked && t.early.waker < tracks_.size()) {
    // Woken while it still ran, and it did not block: the wakeup had nothing to end.
    tracks_[t.early.waker].ops[t.early.op].dropped = true;
    ++counts_.not_blocked;
  }
  t.early = {};
  if (t.where == Where::runnable) end_wait(t, now, !prev_was_idle);
  resolve_path(t, cpu, was_idle_since && t.woken.is_set && idle_began <= t.woken.time_ns,
               !prev_was_idle);
  t.where = Where::running;
  t.cpu = cpu;
  t.preempt_seen = t.woke_stopper = false;
  t.run_start_ns = t.mark_ns = now;
  t.irq_ns = 0;
  t.evidence.resize(cpus_.size());
  t.evidence[cpu.index()] = {.ran = true};
  if (now != start_ns_) {
    t.run_op().debt_ns += machine_.costs.context_switch_ns.ns();
    if (seen_[static_cast<size_t>(EventKind::sched_switch)] != 0) {
      t.run_op().debt_ns += machine_.costs.trace_event_ns.ns();
    }
  }
}

void ReplayBuilder::fork(const Event& e) {
  CpuTrack& c = cpu_of(e);
  const uint32_t parent = c.current;
  // A pid that comes again is a new task.
  by_pid_.erase(e.other_pid);
  const uint32_t child = track_of(e.other_pid, e.other_comm);
  if (child >= kIdle) return;
  TaskTrack& t = tracks_[child];
  if (parent >= kIdle) {
    first_seen(t, Where::runnable, TaskStart::runnable, e.time_ns);
  } else {
    first_seen(t, Where::runnable, TaskStart::forked, e.time_ns);
    TaskTrack& p = tracks_[parent];
    p.advance(e.time_ns);
    p.ops.push_back({.op = op::bare(op::fork(t.id))});
    p.run_op().debt_ns += machine_.costs.wakeup_ns.ns();
    // A child inherits nice and policy; its first switch says if that changed. Affinity too.
    t.has_prio = p.has_prio;
    t.prio = t.first_prio = p.prio;
    for (const CpuEvidence& from : p.evidence) t.evidence.push_back({.excluded = from.excluded});
  }
  begin_wait(t, e.time_ns);
  last_runnable_ns_ = e.time_ns;
  record(e, RecordKind::fork, parent, 0, t.id.value());
}

}  // namespace runqlab::trace
