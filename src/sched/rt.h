// sched/rt.h — the real-time class on one CPU: FIFO lists by priority, round robin (FAIR.md F.2,
// without push and pull between CPUs and without throttling).
#pragma once

#include "sched/state/rq.h"
#include "sched/state/task.h"

namespace runqlab::sched {

class RtClass {
 public:
  // The slice of a round-robin task is counted in ticks.
  RtClass(Duration rr_timeslice, Duration tick)
      : slice_ticks_((rr_timeslice + tick - Duration::nanos(1)) / tick) {}

  // At the tail of its priority's list; at the head after a preemption or a lowered priority.
  void enqueue(Rq& rq, Task& p, bool at_head);
  void dequeue(Rq& rq, Task& p);
  // The running task stays in its list.
  [[nodiscard]] TaskId pick(const Rq& rq) const;
  static void yield(Rq& rq, Task& p);

  // Whether `p` preempts the real-time task that runs: only a more urgent one does.
  [[nodiscard]] static bool preempts(const Task& curr, const Task& p) {
    return p.rt_priority > curr.rt_priority;
  }
  // `p` runs at a tick. True: the slice of a round-robin task is over and it has moved to the tail.
  bool tick(Rq& rq, Task& p) const;

 private:
  static size_t index_of(const Task& p) { return static_cast<size_t>(100 - p.rt_priority); }
  int64_t slice_ticks_;
};

}  // namespace runqlab::sched
