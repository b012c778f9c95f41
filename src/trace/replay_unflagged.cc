// Wakeups in a recording that says nothing of interrupts: text of `perf sched record` names the
// task that ran, also when an interrupt over it woke somebody. A sleeper whose timer goes off is
// woken over whoever runs then, so as often per time of a task's running as per time that CPUs are
// idle, where only an interrupt can be the waker. A task that wakes another one does so far more
// often.
#include <map>

#include "trace/replay_builder.h"

namespace runqlab::trace {
namespace {

// Times the rate over idle CPUs, up to which wakeups over a task are taken for interrupts'.
constexpr uint64_t kRateFactor = 4;

struct Habit {
  uint64_t ran_us = 0;
  bool blocks = false;
};

}  // namespace

bool ReplayBuilder::sees_interrupts() const {
  return seen_[static_cast<size_t>(EventKind::irq_handler_entry)] != 0 ||
         seen_[static_cast<size_t>(EventKind::softirq_entry)] != 0 ||
         seen_[static_cast<size_t>(EventKind::vector_entry)] != 0;
}

void ReplayBuilder::settle_unflagged() {
  if (unflagged_.empty() || sees_interrupts()) return;
  uint64_t idle_us = 0;
  for (const CpuTrack& c : cpus_) idle_us += static_cast<uint64_t>(idle_time(c, last_ns_)) / 1000;
  std::vector<Habit> habits(tracks_.size());
  for (size_t i = 0; i < tracks_.size(); ++i) {
    int64_t ran = 0;
    for (const RawOp& o : tracks_[i].ops) {
      if (o.op.kind == OpKind::run) ran += o.op.amount;
      if (o.op.kind == OpKind::block || o.op.kind == OpKind::sleep) habits[i].blocks = true;
    }
    habits[i].ran_us = static_cast<uint64_t>(ran) / 1000;
  }
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> seen;
  for (const Unflagged& u : unflagged_) ++seen[{u.waker, u.wakee}];
  for (const Unflagged& u : unflagged_) {
    const Habit& waker = habits[u.waker];
    const uint64_t by_waker = seen.at({u.waker, u.wakee});
    const uint64_t by_idle = tracks_[u.wakee].woken_over_idle;
    const bool as_if_idle =
        by_idle != 0 && by_waker * idle_us <= kRateFactor * by_idle * waker.ran_us;
    if (!waker.blocks || as_if_idle) make_interrupt(u);
  }
}

void ReplayBuilder::make_interrupt(const Unflagged& u) {
  RawOp& wake = tracks_[u.waker].ops[u.op];
  if (wake.dropped) return;
  wake.dropped = true;
  --counts_.task_edges;
  ++counts_.over_tasks;
  TaskTrack& t = tracks_[u.wakee];
  if (u.block_op) {
    end_sleep_by_timer(t, *u.block_op, u.blocked_at_ns,
                       u.time_ns - machine_.costs.timer_latency_ns.ns());
  } else {
    arrivals_.push_back({.time = sim_time(u.time_ns), .cpu = u.cpu, .task = t.id});
    ++counts_.arrivals;
  }
}

}  // namespace runqlab::trace
