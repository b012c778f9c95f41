// sched/state/entity.h — what the fair class knows about one task or group on one CPU, and the
// queue such entities wait in (FAIR.md A, B).
#pragma once

#include <cstdint>

#include "base/types.h"
#include "sched/state/load_weight.h"
#include "sched/state/pelt_avg.h"
#include "sched/state/timeline.h"

namespace runqlab::sched {

struct CfsRq;

// Virtual times are nanoseconds of a nice-0 task; they wrap nowhere near a run's length.
struct Entity {
  LoadWeight load{};
  int64_t vruntime = 0;
  int64_t deadline = 0;
  int64_t vlag = 0;      // V - vruntime when it left the queue
  int64_t vprot = 0;     // protected from preemption until here (VPROT) or while deadline == vprot
  int64_t slice_ns = 0;  // request size r
  bool on_rq = false;    // queued, running or delayed
  bool delayed = false;  // sleeps, but still queued (DELAY_DEQUEUE)
  bool rel_deadline = false;  // `deadline` is relative to vruntime
  bool custom_slice = false;
  bool relative = true;       // CFS: `vruntime` counts from min_vruntime of the queue it joins next
  bool idle_policy = false;   // of a SCHED_IDLE task
  bool util_changed = false;  // since util_est was taken last
  SimTime exec_start{};
  int64_t sum_exec_ns = 0;
  int64_t prev_sum_exec_ns = 0;  // sum_exec_ns when it was picked last
  uint64_t queue_seq = 0;        // order of insertion into the timeline, for ties
  PeltAvg avg{};
  CfsRq* cfs_rq = nullptr;  // the queue it is or would be in
  TaskId task{};
};

// One fair run queue: the root queue of a CPU.
struct CfsRq {
  uint64_t load = 0;       // stored weights of all queued entities, with curr
  uint32_t nr_queued = 0;  // with curr and delayed ones
  uint32_t nr_delayed = 0;
  uint32_t nr_idle_policy = 0;
  Timeline timeline;  // queued entities but curr
  Entity* curr = nullptr;
  Entity* next = nullptr;                   // next buddy
  Entity *last = nullptr, *skip = nullptr;  // CFS: the other buddies
  // sum of w * (v - reference) over the timeline, weights scaled down.
  __int128 weighted_sum = 0;
  uint64_t timeline_weight = 0;  // sum of these weights
  uint32_t timeline_custom = 0;  // how many of them have a slice of their own
  // Base of weighted_sum, and V when nothing is queued; CFS: min_vruntime.
  int64_t reference = 0;
  uint64_t next_seq = 0;
  PeltAvg avg{};
  // Averages of tasks that woke up elsewhere, applied at the next update (FAIR.md C.2).
  uint64_t removed_load = 0, removed_util = 0, removed_runnable = 0;
  uint32_t nr_removed = 0;
  uint64_t util_est = 0;

  [[nodiscard]] uint32_t nr_runnable() const { return nr_queued - nr_delayed; }
};

}  // namespace runqlab::sched
