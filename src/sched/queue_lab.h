// sched/queue_lab.h — one fair run queue for tests, with tasks at the virtual times that a test
// wants. Nothing happens by itself: a test calls the fair class as the kernel would.
#pragma once

#include <string_view>

#include "base/check.h"
#include "sched/fair.h"
#include "sched/kernel_config.h"

namespace runqlab::sched {

class QueueLab {
 public:
  explicit QueueLab(std::string_view arm = "6.18", size_t cpus = 8)
      : config(parse_arm(arm, kernel_of("6.18").value()).value()),
        k(fair_params(config, cpus, Duration::millis(4))),
        tasks(kTasks),
        fair(k, tasks, overload) {}
  QueueLab(const QueueLab&) = delete;
  QueueLab& operator=(const QueueLab&) = delete;

  // A task that sleeps and has neither lag nor load.
  Task& task(int nice = 0) {
    RQL_CHECK(used_ < kTasks);
    const TaskId id = TaskId::of(used_++);
    Task& p = tasks[id];
    p.id = p.se.task = id;
    p.cpu = CpuId(0);
    p.nice = static_cast<int8_t>(nice);
    p.se.load = nice_weight(nice);
    p.se.slice_ns = k.base_slice_ns;
    p.state = RunState::sleeping;
    return p;
  }
  // Queued at time 0, at this virtual time.
  Task& queued(int64_t vruntime, int64_t deadline, int nice = 0) {
    Task& p = task(nice);
    p.state = RunState::runnable;
    fair.enqueue(rq, p, {}, SimTime{});
    move(p, vruntime, deadline);
    return p;
  }
  // The same, and it runs.
  Task& running(int64_t vruntime, int64_t deadline, int nice = 0) {
    Task& p = queued(vruntime, deadline, nice);
    run(p, SimTime{});
    return p;
  }

  void move(Task& p, int64_t vruntime, int64_t deadline) {
    const bool waits = rq.cfs.curr != &p.se;
    if (waits) fair.timeline_erase(rq.cfs, p.se);
    p.se.vruntime = vruntime;
    p.se.deadline = deadline;
    if (waits) fair.timeline_insert(rq.cfs, p.se);
  }
  void set_slice(Task& p, Duration slice) {
    const bool waits = p.se.on_rq && rq.cfs.curr != &p.se;
    if (waits) fair.timeline_erase(rq.cfs, p.se);
    p.se.custom_slice = true;
    p.se.slice_ns = slice.ns();
    if (waits) fair.timeline_insert(rq.cfs, p.se);
  }

  void run(Task& p, SimTime now) {
    if (rq.curr.valid()) fair.put_prev(rq, tasks[rq.curr], now);
    rq.curr = p.id;
    fair.set_next(rq, p, now, true);
  }
  // The scheduling pass; the task that runs then.
  TaskId schedule(SimTime now) {
    const TaskId next = fair.pick(rq, now);
    if (next == rq.curr) return next;
    if (next.valid()) {
      run(tasks[next], now);
    } else {
      fair.put_prev(rq, tasks[rq.curr], now);
      rq.curr = next;
    }
    return next;
  }
  // The running task goes to sleep and the next one runs.
  FairClass::Dequeued block(SimTime now) {
    Task& p = tasks[rq.curr];
    p.state = RunState::sleeping;
    const FairClass::Dequeued d = fair.dequeue(rq, p, {.sleep = true}, now);
    schedule(now);
    return d;
  }
  // What wakeup preemption answers for a task that has just been queued.
  bool preempts(Task& p, SimTime now, bool fork = false) {
    return fair.wakeup_preempt(rq, p, fork, false, now);
  }
  int64_t v() { return eevdf::virtual_time(k, rq.cfs); }

  static constexpr size_t kTasks = 16;
  const KernelConfig config;
  const FairParams k;
  IdVector<TaskId, Task> tasks;
  bool overload = false;
  FairClass fair;
  Rq rq;

 private:
  size_t used_ = 0;
};

}  // namespace runqlab::sched
