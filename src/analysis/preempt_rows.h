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
  // curr has left the queue and is about to be switched out.
  uint64_t curr_left = 0;

  [[nodiscard]] uint64_t decided() const { return rows - third_task - groups - curr_left; }
  void add(const PreemptTally& o);
};

// CSV, packed or not, with the columns t_ns, rqcpu, nr, cpid, cvr, cwt, cse, cpse, ppid, pvr, pwt,
// wf, resched, for EEVDF also cdl, pdl, cvl, pvl, csl, psl. `kernel` must have the file's pick
// policy. Queueing the wakee has just charged curr, but for one that was queued all along (delayed,
// EEVDF): then curr has run, uncharged, since it was picked; the row of that tells when.
Result<PreemptTally> decide_preempt_rows(const std::string& path, const sched::KernelConfig& kernel,
                                         size_t nr_cpus);

}  // namespace runqlab::analysis
