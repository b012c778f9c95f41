// sched/state/kernel_state.h — everything the kernel model knows, in one place. Policies read it
// and return decisions; sched/kernel.h acts.
#pragma once

#include "base/id_vector.h"
#include "machine/machine.h"
#include "sched/state/domain.h"
#include "sched/state/features.h"
#include "sched/state/rq.h"
#include "sched/state/task.h"
#include "sched/state/tunables.h"

namespace runqlab::sched {

struct KernelState {
  KernelState(const Features& f, const Tunables& t, const machine::Machine& m)
      : feat(f), tun(t), machine(m) {}

  const Features& feat;
  const Tunables& tun;
  const machine::Machine& machine;
  IdVector<TaskId, Task> tasks;
  IdVector<CpuId, Rq> rqs;
  Domains domains;
  // Any CPU has more than one runnable task (rd.overload of FAIR.md E.3).
  bool overload = false;

  [[nodiscard]] const machine::Topology& topology() const { return machine.topology(); }
  [[nodiscard]] bool share_llc(CpuId a, CpuId b) const {
    return topology().cpu(a).llc == topology().cpu(b).llc;
  }
  // The highest domain of `c` that shares its last-level cache; there must be one.
  SchedDomain& llc_domain(CpuId c) {
    return domains.of[c][static_cast<size_t>(domains.llc_level[c])];
  }
  LlcShared& llc_of(CpuId c) { return domains.llc[topology().cpu(c).llc]; }
  // Only tasks of SCHED_IDLE are queued, and at least one.
  [[nodiscard]] bool only_idle_policy(CpuId c) const {
    const Rq& rq = rqs[c];
    return rq.cfs.nr_idle_policy != 0 && rq.nr_running == rq.cfs.nr_idle_policy;
  }
  // Idle, and if it is a virtual CPU, not given away by the host.
  [[nodiscard]] bool available_idle(CpuId c, SimTime now) const {
    return rqs[c].is_idle() && !machine.vcpu_preempted(c, now);
  }
  // The wakeup search may use it.
  [[nodiscard]] bool usable(CpuId c, SimTime now) const {
    return available_idle(c, now) || only_idle_policy(c);
  }
  [[nodiscard]] uint64_t cpu_load(CpuId c) const { return rqs[c].cfs.avg.load_avg; }
};

// The kernel's clocks start here, so that 0 can mean "never".
constexpr int64_t kClockEpoch = int64_t{1} << 30;
constexpr int64_t clock_ns(SimTime now) { return now.ns() + kClockEpoch; }

// Where and when a piece of kernel code runs.
struct Here {
  CpuId cpu;
  SimTime now;
};

}  // namespace runqlab::sched
