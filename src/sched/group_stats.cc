#include "sched/group_stats.h"

#include <algorithm>

namespace runqlab::sched {
namespace {

uint64_t sub(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

// `p` contributes to `c`'s averages: it ran there last and is attached.
bool counted_on(const Task* p, CpuId c) {
  return p != nullptr && p->cpu == c && p->se.avg.last_update_ns != 0;
}

}  // namespace

uint64_t cpu_util(const KernelState& s, CpuId c, const Task* without, bool boost) {
  const Rq& rq = s.rqs[c];
  uint64_t util = rq.cfs.avg.util_avg;
  if (boost) util = std::max(util, rq.cfs.avg.runnable_avg);
  uint64_t est = rq.cfs.util_est;
  if (counted_on(without, c)) {
    util = sub(util, without->se.avg.util_avg);
    if (without->on_rq) est = sub(est, without->util_est);
  }
  return std::min(std::max(util, est), rq.cpu_capacity);
}

void add_cpu(GroupStats& g, const KernelState& s, CpuId c, const Task* without) {
  const Rq& rq = s.rqs[c];
  const bool minus = counted_on(without, c);
  g.load += sub(rq.cfs.avg.load_avg, minus ? without->se.avg.load_avg : 0);
  g.util += cpu_util(s, c, without, false);
  g.runnable += sub(rq.cfs.avg.runnable_avg, minus ? without->se.avg.runnable_avg : 0);
  uint32_t nr = rq.nr_running;
  if (without != nullptr && without->on_rq && without->cpu == c) --nr;
  g.nr_running += nr;
  g.h_nr += rq.cfs.nr_runnable();
  // A CPU counts as idle when nobody else would be there.
  if (nr == 0 && !rq.ttwu_pending) ++g.idle_cpus;
}

}  // namespace runqlab::sched
