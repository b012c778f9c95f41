// sched/fair.h — the fair class of one run: queueing, accounting and load tracking around the pick
// policy (FAIR.md A.4, A.7, B.6, B.7, C.2, C.3). Methods change queue state and return what should
// happen (reschedule or not); they do not act on CPUs.
#pragma once

#include <cstdint>

#include "base/id_vector.h"
#include "base/types.h"
#include "sched/cfs.h"
#include "sched/eevdf.h"
#include "sched/state/kernel_state.h"
#include "sched/state/rq.h"
#include "sched/state/task.h"

namespace runqlab::sched {

struct EnqueueFlags {
  bool wakeup = false;
  bool initial = false;   // first enqueue of a new task
  bool migrated = false;  // it comes from another CPU
  bool head = false;      // real-time: before its equals
};
struct DequeueFlags {
  bool sleep = false;
  bool special = false;    // stopped, parked, dead: never delayed
  bool migrating = false;  // a balance pass or an affinity change takes it away
};

class FairClass {
 public:
  // `overload` is set when a queue gets a second task.
  FairClass(FairParams params, IdVector<TaskId, Task>& tasks, bool& overload)
      : k_(params), tasks_(tasks), overload_(overload) {}

  // Charges the time since the last update to curr. True: curr should be rescheduled.
  bool update_curr(Rq& rq, SimTime now);

  // Puts the task on the queue. True: curr should be rescheduled (its protection ended).
  bool enqueue(Rq& rq, Task& p, EnqueueFlags flags, SimTime now);
  // A sleeper that is still queued was woken.
  bool requeue_delayed(Rq& rq, Task& p, SimTime now);

  struct Dequeued {
    bool left = true;  // false: it sleeps, but stays queued (DELAY_DEQUEUE)
    bool resched = false;
  };
  Dequeued dequeue(Rq& rq, Task& p, DequeueFlags flags, SimTime now);

  // The task to run next, or none. Delayed sleepers that come up are dequeued for real.
  TaskId pick(Rq& rq, SimTime now);
  void put_prev(Rq& rq, Task& p, SimTime now);
  // `picked`: by pick(); else it goes on running after a change of its class or weight.
  void set_next(Rq& rq, Task& p, SimTime now, bool picked);

  // Whether `p`, just queued on `rq`, should preempt the fair task that runs there.
  bool wakeup_preempt(Rq& rq, Task& p, bool fork, bool need_resched, SimTime now);
  bool tick(Rq& rq, Task& p, SimTime now);
  void yield(Rq& rq, Task& p, SimTime now);
  // Balancing: a task that was looked at and not taken goes to the other end of the list.
  void move_to_head(Rq& rq, Task& p) {
    list_remove(rq, p);
    list_add(rq, p);
  }
  // New weight for a task that is not queued (FAIR.md B.8): its lag and its rest of a request keep
  // their worth in wall time.
  void reweight(Rq& rq, Task& p, LoadWeight load, SimTime now);

  // The task changes to another class: its load goes with it. Call when it is not queued.
  void leave_class(Rq& rq, Task& p, SimTime now);
  // A delayed sleeper is taken off the queue for real.
  void finish_delayed(Rq& rq, Task& p, SimTime now);

  // A new task's place in virtual time, by that of its parent, which runs on `rq` (FAIR.md A.6).
  void fork(Rq& rq, Task& child, SimTime now) {
    if (k_.feat.eevdf) return;  // EEVDF places without regard to the parent
    update_curr(rq, now);
    cfs::place_child(k_, rq.cfs, child.se);
  }
  // It sleeps since before the run began.
  static void init_sleeper(Task& p) {
    p.se.relative = false;
    p.se.vruntime = INT64_MIN / 2;
  }
  // A new task's averages, before its first enqueue on `rq` (FAIR.md C.2).
  void init_new(const Rq& rq, Task& p);
  // The averages of a task that has run for `util`/1024 of the time for long, and hardly waited.
  void init_settled(Rq& rq, Task& p, uint16_t util, SimTime now);
  // A sleeping task is about to be queued on another CPU than `old`.
  void leave_sleeping(Rq& old, Task& p, SimTime now);
  // Ages the queue's load to now (FAIR.md C.5). True while something of it is left.
  bool update_blocked(Rq& rq, SimTime now);

  // h_load of FAIR.md A.12 without groups: the task's own load.
  [[nodiscard]] static uint64_t task_h_load(const Task& p) { return p.se.avg.load_avg; }

  // The queue's timeline of everything but curr.
  void timeline_insert(CfsRq& q, Entity& se) {
    k_.feat.eevdf ? eevdf::timeline_insert(q, se) : cfs::timeline_insert(q, se);
  }
  void timeline_erase(CfsRq& q, Entity& se) {
    k_.feat.eevdf ? eevdf::timeline_erase(q, se) : cfs::timeline_erase(q, se);
  }

  // How often the kernel would have written a sched_stat_runtime event; the reader resets it.
  uint32_t runtime_events = 0;

 private:
  void update_load(CfsRq& q, Entity& se, SimTime now, bool attach);
  void update_queue_load(CfsRq& q, SimTime now);
  void enqueue_entity(Rq& rq, Task& p, EnqueueFlags flags, SimTime now);
  void remove_entity(Rq& rq, Task& p, DequeueFlags flags, SimTime now);
  void count(Rq& rq, const Task& p, int by);
  void list_add(Rq& rq, Task& p);
  void list_remove(Rq& rq, Task& p);
  void util_est_update(Task& p);
  [[nodiscard]] bool next_buddy_first(CfsRq& q) const;
  bool cfs_wakeup_preempt(Rq& rq, Task& p, bool fork, bool need_resched, SimTime now);

  FairParams k_;
  IdVector<TaskId, Task>& tasks_;
  bool& overload_;
};

}  // namespace runqlab::sched
