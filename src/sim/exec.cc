// What a task does when its current segment is over: the ops of its program, one stage at a time.
#include "sim/simulation.h"

namespace runqlab::sim {
namespace {

using sched::Here;

// Stages of an op; 0 is "fetch the next one".
constexpr uint8_t kFetch = 0;
constexpr uint8_t kEffect = 1;  // its cost is paid, it happens now

}  // namespace

void Simulation::continue_task(Here here) {
  const TaskId id = kernel_.current(here.cpu);
  TaskRun& t = runs_[id];
  Step s;
  do {
    s = t.stage == kFetch ? fetch(here, id, t) : step(here, id, t);
  } while (s == Step::again);
  kernel_.settle(here);
}

// A time segment of the current task, then `next_stage`.
Simulation::Step Simulation::segment(Here here, TaskRun& t, Duration d, bool user_mode,
                                     uint8_t next_stage) {
  t.stage = next_stage;
  machine_.set_base(here.cpu, machine::Context::task, d, user_mode);
  return Step::settle;
}

// The current task sleeps; when it runs again it first works off `left` in kernel mode.
Simulation::Step Simulation::sleep(Here here, TaskRun& t, uint8_t stage_after, Duration left) {
  t.stage = stage_after;
  kernel_.schedule(here, TaskLeave::blocked, {.left = left, .user_mode = false});
  return Step::settle;
}

void Simulation::deliver_wake(Here here, TaskId target, bool sync, WakeContext context) {
  TaskRun& t = runs_[target];
  if (!t.waiting) {
    ++t.tokens;
    return;
  }
  t.waiting = false;
  kernel_.wake(here, target, sync ? wake_flags::kSync : uint8_t{0}, context);
}

// On the way back to user mode: a pending reschedule is acted on, else the next op begins.
Simulation::Step Simulation::fetch(Here here, TaskId id, TaskRun& t) {
  if (kernel_.must_resched_to_user(here.cpu)) {
    kernel_.schedule(here, TaskLeave::preempted, {.left = Duration{}, .user_mode = true});
    return Step::settle;
  }
  t.op = t.program.next();
  const auto& costs = machine_.costs();
  const auto cost = [&](Duration own) {
    return t.op.bare ? Duration{} : costs.syscall_ns / 2 + own;
  };
  const Duration amount = Duration::nanos(t.op.amount);
  switch (t.op.kind) {
    case OpKind::run:
      return amount > Duration{} ? segment(here, t, amount, true, kFetch) : Step::again;
    case OpKind::wake:
    case OpKind::set_sched:
    case OpKind::set_affinity:
    case OpKind::pipe_read:
      break;
    case OpKind::block:
      if (t.tokens != 0) {
        --t.tokens;
        return Step::again;
      }
      break;
    case OpKind::sleep:
      if (amount <= Duration{}) return Step::again;
      break;
    case OpKind::sleep_until:
      if (SimTime::from_ns(t.op.amount) <= here.now) return Step::again;
      break;
    case OpKind::yield:
      return segment(here, t, cost(costs.yield_ns), false, kEffect);
    case OpKind::fork:
      return segment(here, t, cost(costs.fork_ns), false, kEffect);
    case OpKind::pipe_write:
      return segment(here, t, cost(costs.pipe_io_ns), false, kEffect);
    case OpKind::exit:
      kernel_.schedule(here, TaskLeave::exited, {});
      return Step::settle;
  }
  if (t.op.bare) return step(here, id, t);
  return segment(here, t, cost({}), false, kEffect);
}

// The op in progress takes effect.
Simulation::Step Simulation::step(Here here, TaskId id, TaskRun& t) {
  const Op& o = t.op;
  const Duration exit = o.bare ? Duration{} : machine_.costs().syscall_ns / 2;
  // Work of the effect itself was charged and comes on top of the exit.
  const auto finish = [&] { return segment(here, t, exit, false, kFetch); };
  switch (o.kind) {
    case OpKind::wake:
      deliver_wake(here, TaskId(o.target), o.sync, static_cast<WakeContext>(o.detail));
      return finish();
    case OpKind::block:
      if (t.tokens != 0) {
        --t.tokens;
        return finish();
      }
      t.waiting = true;
      return sleep(here, t, kFetch, exit);
    case OpKind::sleep:
    case OpKind::sleep_until: {
      const SimTime until = o.kind == OpKind::sleep ? here.now + Duration::nanos(o.amount)
                                                    : SimTime::from_ns(o.amount);
      if (until <= here.now) return finish();
      t.timer_cpu = o.kind == OpKind::sleep && o.target != TaskId::none().value()
                        ? on_machine(CpuId(static_cast<uint16_t>(o.target)))
                        : here.cpu;
      const Duration slack = kernel_.timer_slack(id);
      // What was recorded is when the timer went off, that is, with its slack.
      machine_.arm_timer(t.timer_cpu, timer_slot(id), o.bare ? until : until + slack, slack);
      return sleep(here, t, kFetch, exit);
    }
    case OpKind::yield:
      kernel_.yield(here);
      t.stage = kFetch;
      kernel_.schedule(here, TaskLeave::yielded, {.left = exit, .user_mode = false});
      return Step::settle;
    case OpKind::fork:
      begin_program(TaskId(o.target));
      kernel_.fork(here, TaskId(o.target));
      return finish();
    case OpKind::set_sched:
      kernel_.set_sched(here, TaskId(o.target).valid() ? TaskId(o.target) : id,
                        static_cast<Policy>(o.detail), static_cast<int>(o.amount));
      return finish();
    case OpKind::set_affinity:
      if (kernel_.set_affinity(here, id, workload_.cpu_lists[o.target])) return finish();
      // The stopper moves it: it leaves this CPU and is queued on one that it may use.
      t.stage = kFetch;
      kernel_.schedule(here, TaskLeave::blocked, {.left = exit, .user_mode = false});
      kernel_.wake(here, id, 0, WakeContext::task);
      return Step::settle;
    case OpKind::pipe_write:
      return pipe_write(here, id, t);
    case OpKind::pipe_read:
      return pipe_read(here, id, t);
    case OpKind::run:
    case OpKind::exit:
      break;
  }
  RQL_CHECK(false);
  return Step::settle;
}

// A writer wakes one reader, with the sync hint, only if the pipe was empty.
Simulation::Step Simulation::pipe_write(Here here, TaskId id, TaskRun& t) {
  sched::Pipe& pipe = pipes_[ObjId(t.op.target)];
  if (!pipe.has_room(t.op.amount)) {
    pipe.writers.push_back(id);
    return sleep(here, t, kEffect, Duration{});
  }
  const bool was_empty = pipe.empty();
  pipe.put(t.op.amount);
  if (was_empty && !pipe.readers.empty()) {
    const TaskId reader = pipe.readers.front();
    pipe.readers.pop_front();
    kernel_.wake(here, reader, wake_flags::kSync, WakeContext::task);
  }
  return segment(here, t, machine_.costs().syscall_ns / 2, false, kFetch);
}

// A reader wakes one writer if the pipe was full, and the next reader if something is left.
Simulation::Step Simulation::pipe_read(Here here, TaskId id, TaskRun& t) {
  sched::Pipe& pipe = pipes_[ObjId(t.op.target)];
  if (pipe.empty()) {
    pipe.readers.push_back(id);
    return sleep(here, t, kEffect, Duration{});
  }
  const bool was_full = pipe.full();
  pipe.take(t.op.amount);
  const auto wake_first = [&](Ring<TaskId>& sleepers) {
    const TaskId first = sleepers.front();
    sleepers.pop_front();
    kernel_.wake(here, first, wake_flags::kSync, WakeContext::task);
  };
  if (was_full && !pipe.writers.empty()) wake_first(pipe.writers);
  if (!pipe.empty() && !pipe.readers.empty()) wake_first(pipe.readers);
  const auto& costs = machine_.costs();
  return segment(here, t, costs.pipe_io_ns + costs.syscall_ns / 2, false, kFetch);
}

}  // namespace runqlab::sim
