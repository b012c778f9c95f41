// sched/pelt.h — per-entity load tracking, exact integer arithmetic (FAIR.md C.1, C.2).
// Policies call these with the PELT clock in nanoseconds; nothing here knows tasks or CPUs.
#pragma once

#include <cstdint>

#include "sched/state/pelt_avg.h"

namespace runqlab::sched::pelt {

constexpr uint32_t kMaxSum = 47742;  // limit of the geometric series
constexpr uint32_t kPeriod = 1024;   // of 1024 ns

// value * y^n.
uint64_t decay(uint64_t value, uint64_t n);
// Contribution of p >= 1 period boundaries: the rest d1 of the first period, p - 1 full ones and d3
// of the current one.
uint32_t segments(uint64_t p, uint32_t d1, uint32_t d3);

constexpr uint32_t divider(const PeltAvg& a) { return kMaxSum - kPeriod + a.period_contrib; }

// Advances the sums to `now_ns` with the state held since the last update. True when a period
// boundary was crossed, that is, when the averages must be recomputed.
bool advance(PeltAvg& a, int64_t now_ns, uint64_t load, uint64_t runnable, bool running);

// An entity: load is 0 or 1, the average is scaled by its weight (scaled down).
bool update_entity(PeltAvg& a, int64_t now_ns, uint64_t weight, bool queued, uint64_t runnable,
                   bool running);
// A queue: load is its weight (scaled down).
bool update_queue(PeltAvg& a, int64_t now_ns, uint64_t weight, uint64_t runnable, bool running);
// An entity that slept all the time since its last update.
bool update_blocked(PeltAvg& a, int64_t now_ns, uint64_t weight);

// Adds / removes an entity's averages to / from a queue's; attach takes over the queue's clock.
void attach(PeltAvg& queue, PeltAvg& entity, uint64_t weight);
void detach(PeltAvg& queue, const PeltAvg& entity, uint64_t weight);
// The entity's weight changes; only load depends on it. `queue` is null when it is not attached.
void reweight(PeltAvg* queue, PeltAvg& entity, uint64_t old_weight, uint64_t new_weight);
// Utilisation that a task is expected to need when it wakes up, renewed as it goes to sleep: up at
// once, down slowly, and not at all while it waited for much of its time (FAIR.md C.3, 6.8 on).
uint64_t util_est(uint64_t estimate, uint64_t util_avg, uint64_t runnable_avg);
// The same before 6.8: `enqueued`, the utilization at the last sleep that counted, goes with it.
struct UtilEstPair {
  uint64_t ewma;
  uint64_t enqueued;
};
UtilEstPair util_est_pair(UtilEstPair before, uint64_t util_avg, uint64_t capacity);
// Removes averages that left the queue while its lock was not held (a wakeup on another CPU).
void remove(PeltAvg& queue, uint64_t load_avg, uint64_t util_avg, uint64_t runnable_avg);

}  // namespace runqlab::sched::pelt
