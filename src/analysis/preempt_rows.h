// analysis/preempt_rows.h — recorded wakeup-preemption checks (check_preempt_wakeup and its
// successors: who ran, who woke, whether curr was asked to reschedule), decided again by the fair
// class that every simulation uses.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sched/kernel_config.h"

namespace runqlab::analysis {

// How the rows of one file came out.
struct PreemptTally {
  uint64_t rows = 0;
  uint64_t equal = 0;
  // Disagreements: the model preempts and the kernel did not, and the reverse.
  uint64_t only_model = 0;
  uint64_t only_kernel = 0;
  // What the row does not hold. EEVDF: the third task that is queued.
  uint64_t third_task = 0;
  // The two are not on one queue: other cgroups.
  uint64_t groups = 0;
  // EEVDF: what curr had run since it was last charged, which a wakee that was queued all along
  // (delayed) does not end; the outcome hangs on it.
  uint64_t uncharged = 0;
  // No sched_wakeup event follows the check (a fork, a pull by the balancer), which is where the
  // recording ended it: a request that came later, from the tick say, may stand as the check's.
  uint64_t open_end = 0;
  // curr has left the queue and is about to be switched out.
  uint64_t curr_left = 0;

  [[nodiscard]] uint64_t decided() const {
    return rows - third_task - groups - uncharged - open_end - curr_left;
  }
  void add(const PreemptTally& o);
};

// CSV, packed or not, with the columns t_ns, rqcpu, nr, cpid, cvr, cwt, cse, cpse, ppid, pvr, pwt,
// wf, resched, for EEVDF also cdl, pdl, cvl, pvl, csl, psl. `kernel` must have the file's pick
// policy. Queueing the wakee has just charged curr, but for one that was queued all along (delayed,
// EEVDF): a row whose outcome hangs on how much of the time since curr was last seen not to run is
// uncharged, is left undecided.
Result<PreemptTally> decide_preempt_rows(const std::string& path, const sched::KernelConfig& kernel,
                                         size_t nr_cpus);

}  // namespace runqlab::analysis
