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

GroupType classify(const GroupStats& g, uint32_t pct, bool imbalanced) {
  const bool runnable_fits = g.capacity * pct >= g.runnable * 100;
  const bool util_fits = g.capacity * 100 >= g.util * pct;
  if (g.nr_running > g.weight && (!util_fits || !runnable_fits)) return GroupType::overloaded;
  if (imbalanced) return GroupType::imbalanced;
  const bool has_capacity =
      g.nr_running < g.weight || (runnable_fits && g.capacity * 100 > g.util * pct);
  return has_capacity ? GroupType::has_spare : GroupType::fully_busy;
}

uint64_t cpu_util(const KernelState& s, CpuId c, const Task* without, bool boost) {
  const Rq& rq = s.rqs[c];
  uint64_t util = rq.cfs.avg.util_avg;
  if (boost) util = std::max(util, rq.cfs.avg.runnable_avg);
  uint64_t est = rq.cfs.util_est;
  if (counted_on(without, c)) {
    util = sub(util, without->se.avg.util_avg);
    if (without->on_rq) est = sub(est, without->util_est);
  }
  return std::min(std::max(util, est), uint64_t{1024});
}

void add_cpu(GroupStats& g, const KernelState& s, CpuId c, const Task* without) {
  const Rq& rq = s.rqs[c];
  const bool minus = counted_on(without, c);
  g.load += sub(rq.cfs.avg.load_avg, minus ? without->se.avg.load_avg : 0);
  g.util += cpu_util(s, c, without, without == nullptr);
  g.runnable += sub(rq.cfs.avg.runnable_avg, minus ? without->se.avg.runnable_avg : 0);
  g.capacity += rq.cpu_capacity;
  ++g.weight;
  uint32_t nr = rq.nr_running;
  if (without != nullptr && without->on_rq && without->cpu == c) --nr;
  g.nr_running += nr;
  g.h_nr += rq.cfs.nr_runnable();
  // A CPU counts as idle when nobody else would be there.
  if (nr == 0 && !rq.ttwu_pending) ++g.idle_cpus;
}

int64_t adjust_numa_imbalance(int64_t imbalance, int64_t dst_running, uint32_t imb_numa_nr) {
  if (dst_running > imb_numa_nr) return imbalance;
  constexpr int64_t kMinimum = 2;
  return imbalance <= kMinimum ? 0 : imbalance;
}

}  // namespace runqlab::sched
