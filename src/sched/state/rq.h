// sched/state/rq.h — one CPU's run queue.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "sched/state/entity.h"
#include "sched/state/pelt_avg.h"
#include "sched/state/task.h"

namespace runqlab::sched {

// FIFO lists by priority 1..99; the bitmap names the non-empty ones.
struct RtRq {
  std::array<std::vector<TaskId>, 100> queue;
  std::array<uint64_t, 2> nonempty{};
  uint32_t nr_running = 0;  // with curr
};

// One eighth of the way to the sample.
constexpr Duration update_avg(Duration avg, Duration sample) { return avg + (sample - avg) / 8; }

struct Rq {
  CpuId cpu{};
  TaskId curr{};              // none: the idle task
  uint32_t nr_running = 0;    // all classes, with curr and delayed sleepers
  bool ttwu_pending = false;  // a wakeup is on its way to this CPU
  CfsRq cfs;
  RtRq rt;
  TaskId stop{};  // the stop-class task if it is queued or running
  // Woken tasks that this CPU shall queue, oldest first.
  struct Woken {
    TaskId task;
    bool migrated;
  };
  std::vector<Woken> wakelist;
  WakeeTracker idle_wakees{};  // of the idle task: interrupts on an idle CPU wake in its name

  // Ring of fair tasks, most recently queued or picked first (balancing takes from the tail).
  TaskId fair_head{}, fair_tail{};

  uint32_t mm = 0;  // address space loaded
  PeltAvg rt_avg{};
  // Idle averages (FAIR.md C.7).
  int64_t idle_stamp_ns = 0;  // kernel clock when it last went idle; 0: none
  Duration avg_idle{};
  Duration wake_avg_idle{};  // the idle time that SIS_PROP may spend on searching
  int64_t wake_stamp = 0;    // jiffies: when it was set, or halved last
  Duration max_idle_balance_cost{};
  // Balancing.
  int64_t next_balance = 0;  // jiffies
  bool tick_stopped = false;
  bool idle_balance = false;   // it was idle at its last tick
  bool nohz_kicked = false;    // asked to balance for the idle CPUs
  bool sched_softirq = false;  // raised
  uint64_t cpu_capacity = 1024;

  // A CPU is idle if nothing is queued, nothing is coming and the idle task runs.
  [[nodiscard]] bool is_idle() const { return !curr.valid() && nr_running == 0 && !ttwu_pending; }

  // A wakeup was queued here: it ends the idle period that the stamp began, if there is one.
  void end_idle_period(int64_t clock_ns, int64_t jiffies) {
    if (idle_stamp_ns == 0) return;
    avg_idle = std::min(update_avg(avg_idle, Duration::nanos(clock_ns - idle_stamp_ns)),
                        max_idle_balance_cost * 2);
    wake_stamp = jiffies;
    wake_avg_idle = avg_idle / 2;
    idle_stamp_ns = 0;
  }
  // It halves once per jiffy.
  void age_wake_avg_idle(int64_t jiffies) {
    for (; wake_stamp < jiffies && wake_avg_idle != Duration{}; ++wake_stamp) {
      wake_avg_idle = wake_avg_idle / 2;
    }
    wake_stamp = std::max(wake_stamp, jiffies);
  }
};

}  // namespace runqlab::sched
