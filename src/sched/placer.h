// sched/placer.h — CPU selection for the fair and real-time classes (FAIR.md D.3 to D.9, F.2).
// Reads the kernel's state and returns a decision with its reason; it writes only what the kernel's
// own selection writes: flip counts, recent_used_cpu, the cleared has_idle_cores.
#pragma once

#include "sched/placement.h"
#include "sched/state/kernel_state.h"

namespace runqlab::sched {

class Placer {
 public:
  explicit Placer(KernelState& state) : s_(state) {}

  // Selects a CPU for `p`, woken, forked or exec'ed by code that runs at `here`. `flags` are
  // wake_flags; exactly one of kTtwu, kFork, kExec is set.
  Placement select(Task& p, Here here, uint8_t flags);

 private:
  Placement select_fair(Task& p, Here here, uint8_t flags);
  Placement select_rt(const Task& p) const;
  // D.3. `current` is whoever runs on the waker's CPU, the idle task included.
  void record_wakee(Here here, TaskId wakee);
  [[nodiscard]] bool wake_wide(Here here, const Task& p) const;

  // D.5: the waker's CPU or the previous one.
  CpuId wake_affine(const SchedDomain& domain, const Task& p, Here here, bool sync,
                    Placement& out) const;
  // D.6, D.7.
  CpuId select_idle_sibling(Task& p, CpuId prev, CpuId target, Here here, Placement& out);
  [[nodiscard]] bool packs(CpuId target) const;
  CpuId select_idle_cpu(const Task& p, CpuId target, bool has_idle_core, SimTime now,
                        Placement& out);
  CpuId scan_cpus(const CpuMask& span, CpuId from, SimTime now, int64_t& budget, Placement& out);
  CpuId scan_cores(const CpuMask& span, CpuId from, SimTime now, Placement& out);
  // D.9.
  Placement slow_path(const Task& p, Here here, bool fork) const;
  [[nodiscard]] const SchedGroup* idlest_group(const SchedDomain& d, const Task& p,
                                               CpuId here) const;
  [[nodiscard]] CpuId idlest_cpu(const SchedGroup& g, const Task& p, CpuId here, SimTime now) const;

  KernelState& s_;
  CpuMask scratch_;
};

}  // namespace runqlab::sched
