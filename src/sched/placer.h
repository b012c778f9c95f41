// sched/placer.h — CPU selection for the fair and real-time classes (FAIR.md D.3 to D.9, F.2).
// Reads the kernel's state and returns a decision with its reason; it writes only what the kernel's
// own selection writes: flip counts, recent_used_cpu, the cleared has_idle_cores.
#pragma once

#include "sched/placement.h"
#include "sched/state/kernel_state.h"

namespace runqlab::sched {

// A waker with many wakees, or a wakee that is such a waker, gains nothing from a shared cache
// (D.3).
constexpr bool wake_wide(uint32_t waker_flips, uint32_t wakee_flips, uint32_t llc_size) {
  const uint32_t master = waker_flips > wakee_flips ? waker_flips : wakee_flips;
  const uint32_t slave = waker_flips > wakee_flips ? wakee_flips : waker_flips;
  return slave >= llc_size && master >= slave * llc_size;
}

// What WA_WEIGHT compares (D.5): loads, and capacities of the two CPUs.
struct AffineLoads {
  int64_t this_load, prev_load;
  int64_t current_load, wakee_load;
  int64_t this_capacity, prev_capacity;
};
struct AffineWeight {
  AffineRule rule;  // sync_load: decided without a comparison
  int64_t this_eff = 0, prev_eff = 0;
};
AffineWeight compare_loads(const AffineLoads& loads, uint32_t imbalance_pct, bool sync, bool bias);

// SIS_PROP: as many CPUs as the idle time pays for, 4 at least (FAIR.md D.7).
constexpr int64_t sis_prop_budget(int64_t llc_size, Duration wake_avg_idle, Duration scan_cost) {
  const int64_t paid = llc_size * wake_avg_idle.ns(), cost = scan_cost.ns() + 1;
  return paid > 4 * cost ? paid / cost : 4;
}

class Placer {
 public:
  explicit Placer(KernelState& state) : s_(state) {}

  // Selects a CPU for `p`, woken, forked or exec'ed by code that runs at `here`, in `context`.
  // `flags` are wake_flags; exactly one of kTtwu, kFork, kExec is set.
  Placement select(Task& p, Here here, uint8_t flags, WakeContext context);

 private:
  Placement select_fair(Task& p, Here here, uint8_t flags, WakeContext context);
  Placement select_rt(const Task& p) const;
  // D.3. `current` is whoever runs on the waker's CPU, the idle task included.
  void record_wakee(Here here, TaskId wakee);

  // D.5: the waker's CPU or the previous one.
  CpuId wake_affine(const SchedDomain& domain, const Task& p, Here here, bool sync,
                    Placement& out) const;
  // D.6, D.7.
  CpuId select_idle_sibling(Task& p, CpuId prev, CpuId target, Here here, WakeContext context,
                            Placement& out);
  [[nodiscard]] bool packs(CpuId target) const;
  CpuId select_idle_cpu(const Task& p, CpuId target, bool has_idle_core, Here here, Placement& out);
  // How many CPUs plus one the search may look at; 1: none.
  int64_t scan_budget(CpuId target, bool has_idle_core, Here here);
  void charge_scan(CpuId here, int probes);
  CpuId scan_cpus(const CpuMask& span, CpuId from, SimTime now, int64_t& budget,
                  Placement& out) const;
  // Empties `span` as far as it looks. `thread`: the first usable thread that it met.
  CpuId scan_cores(CpuMask& span, CpuId from, SimTime now, CpuId& thread, Placement& out) const;
  // D.9.
  Placement slow_path(const Task& p, Here here, bool fork) const;
  [[nodiscard]] const SchedGroup* idlest_group(const SchedDomain& d, const Task& p,
                                               CpuId here) const;
  [[nodiscard]] CpuId idlest_cpu(const SchedGroup& g, const Task& p, CpuId here, SimTime now) const;

  KernelState& s_;
  CpuMask cpus_, cluster_;  // still to be searched
};

}  // namespace runqlab::sched
