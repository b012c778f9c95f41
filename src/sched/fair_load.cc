// Load tracking and weight changes of the fair class (FAIR.md B.8, C.2, C.3).
#include <algorithm>

#include "sched/fair.h"
#include "sched/pelt.h"

namespace runqlab::sched {

void FairClass::update_queue_load(CfsRq& q, SimTime now) {
  if (q.nr_removed != 0) {
    pelt::remove(q.avg, q.removed_load, q.removed_util, q.removed_runnable);
    q.removed_load = q.removed_util = q.removed_runnable = 0;
    q.nr_removed = 0;
  }
  pelt::update_queue(q.avg, clock_ns(now), scaled_down(q.load), q.nr_runnable(), q.curr != nullptr);
}

void FairClass::update_load(CfsRq& q, Entity& se, SimTime now, bool attach) {
  const uint64_t w = scaled_down(se.load.stored);
  if (se.avg.last_update_ns != 0) {
    const bool runnable = se.on_rq && !se.delayed;  // load counts delayed sleepers, this does not
    if (pelt::update_entity(se.avg, clock_ns(now), w, se.on_rq, runnable ? 1 : 0, q.curr == &se)) {
      se.util_changed = true;
    }
  }
  update_queue_load(q, now);
  if (attach && se.avg.last_update_ns == 0) {
    pelt::attach(q.avg, se.avg, w);
    if (se.avg.last_update_ns == 0) se.avg.last_update_ns = clock_ns(now);
  }
}

void FairClass::init_new(const Rq& rq, Task& p) {
  Entity& se = p.se;
  se.avg = PeltAvg{};
  se.avg.load_avg = scaled_down(se.load.stored);
  const PeltAvg& q = rq.cfs.avg;
  const auto cap = (static_cast<int64_t>(rq.cpu_capacity) - static_cast<int64_t>(q.util_avg)) / 2;
  if (cap > 0) {
    const auto limit = static_cast<uint64_t>(cap);
    se.avg.util_avg =
        q.util_avg == 0
            ? limit
            : std::min(limit, q.util_avg * scaled_down(se.load.stored) / (q.load_avg + 1));
  }
  se.avg.runnable_avg = se.avg.util_avg;
}

void FairClass::init_settled(Rq& rq, Task& p, uint16_t util, SimTime now) {
  Entity& se = p.se;
  const uint64_t weight = scaled_down(se.load.stored);
  se.avg = PeltAvg{};
  se.avg.util_avg = se.avg.runnable_avg = util;
  se.avg.load_avg = weight * util >> 10;
  p.util_est = util;
  if (p.state != RunState::sleeping) return;
  // Its queue has the average of a sleeper too.
  update_queue_load(rq.cfs, now);
  pelt::attach(rq.cfs.avg, se.avg, weight);
}

void FairClass::leave_class(Rq& rq, Task& p, SimTime now) {
  Entity& se = p.se;
  RQL_AUDIT(!se.on_rq);
  if (!k_.feat.eevdf && !se.relative) {
    cfs::place(k_, rq.cfs, se, true);
    cfs::make_relative(rq.cfs, se);
  }
  if (se.avg.last_update_ns == 0) return;
  update_load(rq.cfs, se, now, false);
  pelt::detach(rq.cfs.avg, se.avg, scaled_down(se.load.stored));
  se.avg.last_update_ns = 0;
}

void FairClass::leave_sleeping(Rq& old, Task& p, SimTime now) {
  Entity& se = p.se;
  CfsRq& q = old.cfs;
  if (se.avg.last_update_ns != 0) {
    const uint64_t w = scaled_down(se.load.stored);
    pelt::update_blocked(se.avg, q.avg.last_update_ns, w);
    q.removed_load += se.avg.load_avg;
    q.removed_util += se.avg.util_avg;
    q.removed_runnable += se.avg.runnable_avg;
    ++q.nr_removed;
    // The queue of an idle CPU has not been updated for a while: age by what it missed.
    if (!old.curr.valid()) pelt::update_blocked(se.avg, clock_ns(now), w);
  }
  se.avg.last_update_ns = 0;
  if (!k_.feat.eevdf) cfs::make_relative(q, se);
}

bool FairClass::update_blocked(Rq& rq, SimTime now) {
  update_queue_load(rq.cfs, now);
  const PeltAvg& a = rq.cfs.avg;
  return a.load_avg != 0 || a.util_avg != 0 || a.runnable_avg != 0;
}

void FairClass::util_est_update(Task& p) {
  if (!p.se.util_changed) return;
  p.se.util_changed = false;
  if (!k_.feat.util_est_pair) {
    p.util_est = pelt::util_est(p.util_est, p.se.avg.util_avg, p.se.avg.runnable_avg);
    return;
  }
  constexpr uint64_t kCapacity = 1024;
  const auto after =
      pelt::util_est_pair({p.util_est, p.util_est_enqueued}, p.se.avg.util_avg, kCapacity);
  p.util_est = after.ewma;  // never below the other
  p.util_est_enqueued = after.enqueued;
}

void FairClass::reweight(Rq& rq, Task& p, LoadWeight load, SimTime now) {
  Entity& se = p.se;
  RQL_AUDIT(!se.on_rq);
  const auto scale = [&](int64_t v) {
    return static_cast<int64_t>(static_cast<__int128>(v) * static_cast<int64_t>(se.load.stored) /
                                static_cast<int64_t>(load.stored));
  };
  se.vlag = scale(se.vlag);
  if (se.rel_deadline) se.deadline = scale(se.deadline);
  const bool attached = se.avg.last_update_ns != 0;
  if (attached) update_load(rq.cfs, se, now, false);
  pelt::reweight(attached ? &rq.cfs.avg : nullptr, se.avg, scaled_down(se.load.stored),
                 scaled_down(load.stored));
  se.load = load;
}

}  // namespace runqlab::sched
