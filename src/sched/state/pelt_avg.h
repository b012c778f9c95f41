// sched/state/pelt_avg.h — the state of one per-entity load average (FAIR.md C.1).
#pragma once

#include <cstdint>

namespace runqlab::sched {

// Sums are in units of 1024 ns, geometric with y^32 = 1/2; see sched/pelt.h for the arithmetic.
struct PeltAvg {
  int64_t last_update_ns = 0;  // 0: not attached to a queue
  uint64_t load_sum = 0;
  uint64_t runnable_sum = 0;
  uint32_t util_sum = 0;
  uint32_t period_contrib = 0;  // 0..1023 of the current period
  uint64_t load_avg = 0;
  uint64_t runnable_avg = 0;
  uint64_t util_avg = 0;
};

}  // namespace runqlab::sched
