#include "sched/fair.h"

#include <algorithm>

#include "base/check.h"
#include "sched/pelt.h"

namespace runqlab::sched {

bool FairClass::update_curr(Rq& rq, SimTime now) {
  CfsRq& q = rq.cfs;
  Entity* se = q.curr;
  if (se == nullptr) return false;
  const int64_t delta = (now - se->exec_start).ns();
  if (delta <= 0) return false;
  se->exec_start = now;
  se->sum_exec_ns += delta;
  se->vruntime += calc_delta_fair(delta, se->load);
  ++runtime_events;
  if (!k_.feat.eevdf) {
    cfs::update_min_vruntime(q);
    return false;
  }
  const bool renewed = eevdf::renew_deadline(k_, *se);
  eevdf::update_reference(k_, q);
  if (q.nr_queued <= 1) return false;
  const bool resched = renewed || (k_.feat.vprot && !eevdf::is_protected(k_, *se)) ||
                       (k_.feat.ineligible_resched && !eevdf::is_protected(k_, *se) &&
                        !eevdf::eligible(*se, eevdf::virtual_time(k_, q)));
  if (resched && q.next == se) q.next = nullptr;
  return resched;
}

bool FairClass::enqueue(Rq& rq, Task& p, EnqueueFlags flags, SimTime now) {
  if (!p.se.delayed) rq.cfs.util_est += p.util_est;
  const bool resched = update_curr(rq, now);
  enqueue_entity(rq, p, flags, now);
  p.on_rq = true;
  count(rq, p, +1);
  return resched;
}

void FairClass::enqueue_entity(Rq& rq, Task& p, EnqueueFlags flags, SimTime now) {
  CfsRq& q = rq.cfs;
  Entity& se = p.se;
  se.cfs_rq = &q;
  if (flags.migrated) se.exec_start = SimTime{};
  update_load(q, se, now, true);
  if (k_.feat.eevdf) {
    eevdf::place(k_, q, se, flags.initial);
  } else {
    cfs::place(k_, q, se, flags.wakeup);
  }
  q.load += se.load.stored;
  ++q.nr_queued;
  list_add(rq, p);
  if (q.curr != &se) timeline_insert(q, se);
  se.on_rq = true;
  if (se.delayed) ++q.nr_delayed;
}

bool FairClass::requeue_delayed(Rq& rq, Task& p, SimTime now) {
  CfsRq& q = rq.cfs;
  Entity& se = p.se;
  RQL_AUDIT(se.delayed && se.on_rq);
  if (k_.feat.delay_zero) {
    se.vlag = eevdf::lag_of(k_, q, se);
    if (se.vlag > 0) {
      // Away from the queue for a moment: placed at the V of the others, with no lag.
      --q.nr_queued;
      if (q.curr != &se) {
        eevdf::timeline_erase(q, se);
      } else {
        se.on_rq = false;
      }
      se.vlag = 0;
      eevdf::place(k_, q, se, false);
      se.on_rq = true;
      if (q.curr != &se) eevdf::timeline_insert(q, se);
      ++q.nr_queued;
    }
  }
  update_load(q, se, now, false);
  se.delayed = false;
  --q.nr_delayed;
  q.util_est += p.util_est;
  return false;
}

FairClass::Dequeued FairClass::dequeue(Rq& rq, Task& p, DequeueFlags flags, SimTime now) {
  CfsRq& q = rq.cfs;
  Entity& se = p.se;
  if (!se.delayed) q.util_est -= std::min(q.util_est, p.util_est);
  if (flags.sleep) util_est_update(p);
  Dequeued result;
  result.resched = update_curr(rq, now);
  cfs::clear_buddies(q, se);
  if (k_.feat.eevdf && k_.feat.delay_dequeue && flags.sleep && !flags.special && !se.delayed &&
      !eevdf::eligible(se, eevdf::virtual_time(k_, q))) {
    update_load(q, se, now, false);
    se.delayed = true;
    ++q.nr_delayed;
    result.left = false;
    return result;
  }
  remove_entity(rq, p, flags, now);
  p.on_rq = false;
  count(rq, p, -1);
  return result;
}

void FairClass::remove_entity(Rq& rq, Task& p, DequeueFlags flags, SimTime now) {
  CfsRq& q = rq.cfs;
  Entity& se = p.se;
  update_load(q, se, now, false);
  if (flags.migrating) {
    pelt::detach(q.avg, se.avg, scaled_down(se.load.stored));
    se.avg.last_update_ns = 0;
  }
  if (k_.feat.eevdf) se.vlag = eevdf::lag_of(k_, q, se);
  // The keys of the timeline change below.
  if (q.curr != &se) timeline_erase(q, se);
  if (!flags.sleep) {
    if (!k_.feat.eevdf) {
      cfs::make_relative(q, se);
    } else if (k_.feat.place_rel_deadline) {
      se.deadline -= se.vruntime;
      se.rel_deadline = true;
    }
  }
  se.on_rq = false;
  q.load -= se.load.stored;
  --q.nr_queued;
  if (se.delayed) --q.nr_delayed;
  list_remove(rq, p);
  if (k_.feat.eevdf) {
    eevdf::update_reference(k_, q);
  } else if (flags.sleep || flags.migrating) {
    cfs::update_min_vruntime(q);
  }
}

void FairClass::finish_delayed(Rq& rq, Task& p, SimTime now) {
  remove_entity(rq, p, {.sleep = true}, now);
  p.se.delayed = false;
  if (k_.feat.delay_zero && p.se.vlag > 0) p.se.vlag = 0;
  p.on_rq = false;
  count(rq, p, -1);
}

bool FairClass::next_buddy_first(CfsRq& q) const {
  if (q.next == nullptr || k_.feat.buddy_in_pick) return false;
  if (!k_.feat.pick_buddy && !k_.feat.next_buddy) return false;
  return eevdf::eligible(*q.next, eevdf::virtual_time(k_, q));
}

TaskId FairClass::pick(Rq& rq, SimTime now) {
  CfsRq& q = rq.cfs;
  for (;;) {
    if (q.nr_queued == 0) return TaskId::none();
    if (q.curr != nullptr && q.curr->on_rq) update_curr(rq, now);
    Entity* se = nullptr;
    if (!k_.feat.eevdf) {
      se = cfs::pick(k_, q);
    } else {
      se = next_buddy_first(q) ? q.next : eevdf::pick(k_, q, true);
    }
    RQL_CHECK(se != nullptr);
    if (!se->delayed) return se->task;
    finish_delayed(rq, tasks_[se->task], now);
  }
}

void FairClass::put_prev(Rq& rq, Task& p, SimTime now) {
  CfsRq& q = rq.cfs;
  Entity& se = p.se;
  if (se.on_rq) {
    update_curr(rq, now);
    timeline_insert(q, se);
    update_load(q, se, now, false);
  }
  q.curr = nullptr;
}

void FairClass::set_next(Rq& rq, Task& p, SimTime now, bool picked) {
  CfsRq& q = rq.cfs;
  Entity& se = p.se;
  cfs::clear_buddies(q, se);
  if (se.on_rq) {
    timeline_erase(q, se);
    update_load(q, se, now, false);
    if (!k_.feat.eevdf) {
      // CFS protects nobody.
    } else if (picked || !k_.feat.vprot_at_pick_only)
      eevdf::protect(k_, q, se);
  }
  se.exec_start = now;
  q.curr = &se;
  se.prev_sum_exec_ns = se.sum_exec_ns;
  move_to_head(rq, p);
}

bool FairClass::wakeup_preempt(Rq& rq, Task& p, bool fork, bool need_resched, SimTime now) {
  CfsRq& q = rq.cfs;
  Entity& pse = p.se;
  Entity* se = q.curr;
  if (se == nullptr || se == &pse) return false;
  if (!k_.feat.eevdf) return cfs_wakeup_preempt(rq, p, fork, need_resched, now);
  if (k_.feat.next_buddy && !fork && !pse.delayed) q.next = &pse;
  if (need_resched || !k_.feat.wakeup_preemption) return false;
  const Task& curr = tasks_[se->task];
  const bool curr_idle = curr.has_idle_policy();
  if (curr_idle && !p.has_idle_policy()) {
    if (k_.feat.idle_cancels_protection) eevdf::cancel_protection(*se);
    return true;
  }
  if (curr_idle != p.has_idle_policy() || p.policy != Policy::normal) return false;
  const bool expired = update_curr(rq, now);
  const bool shorter = k_.feat.preempt_short && pse.slice_ns < se->slice_ns;
  if (k_.feat.wakeup_no_fork_preempt && !shorter && (fork || pse.delayed)) return expired;
  bool ignore_protection = false;
  if (k_.feat.vprot) {
    ignore_protection = shorter;
  } else if (shorter) {
    const int64_t v = eevdf::virtual_time(k_, q);
    if (eevdf::eligible(pse, v) && (pse.deadline < se->deadline || !eevdf::eligible(*se, v))) {
      eevdf::cancel_protection(*se);
    }
  }
  Entity* best = eevdf::pick(k_, q, !ignore_protection);
  while (k_.feat.wakeup_pick_dequeues && best->delayed) {
    finish_delayed(rq, tasks_[best->task], now);
    best = eevdf::pick(k_, q, !ignore_protection);
  }
  if (best == &pse) {
    if (ignore_protection) eevdf::cancel_protection(*se);
    return true;
  }
  if (k_.feat.vprot && k_.feat.run_to_parity && (shorter || k_.feat.vprot_shrink_always)) {
    eevdf::shrink_protection(q, *se);
  }
  return expired;
}

// The order of the tests differs from EEVDF's (A.10).
bool FairClass::cfs_wakeup_preempt(Rq& rq, Task& p, bool fork, bool need_resched, SimTime now) {
  CfsRq& q = rq.cfs;
  Entity& curr = *q.curr;
  const bool long_queue = q.nr_queued >= k_.nr_latency;
  if (k_.feat.next_buddy && long_queue && !fork && !p.se.idle_policy) q.next = &p.se;
  if (need_resched) return false;
  if (!curr.idle_policy || p.se.idle_policy) {
    if (p.policy != Policy::normal || !k_.feat.wakeup_preemption) return false;
    update_curr(rq, now);
    if (cfs::preempt_test(k_, curr, p.se) != 1) return false;
    q.next = &p.se;
  }
  if (k_.feat.last_buddy && long_queue && curr.on_rq && !curr.idle_policy) q.last = &curr;
  return true;
}

bool FairClass::tick(Rq& rq, Task& p, SimTime now) {
  const bool resched = update_curr(rq, now);
  update_load(rq.cfs, p.se, now, false);
  return k_.feat.eevdf ? resched : cfs::slice_is_over(k_, rq.cfs);
}

void FairClass::yield(Rq& rq, Task& p, SimTime now) {
  CfsRq& q = rq.cfs;
  if (rq.nr_running == 1) return;
  cfs::clear_buddies(q, p.se);
  if (k_.feat.eevdf) {
    update_curr(rq, now);
    eevdf::yield(k_, q, p.se);
    return;
  }
  if (p.policy != Policy::batch) update_curr(rq, now);
  q.skip = &p.se;
}

void FairClass::count(Rq& rq, const Task& p, int by) {
  rq.nr_running += static_cast<uint32_t>(by);
  if (rq.nr_running > 1) overload_ = true;
  if (p.has_idle_policy()) rq.cfs.nr_idle_policy += static_cast<uint32_t>(by);
}

void FairClass::list_add(Rq& rq, Task& p) {
  p.list_prev = TaskId::none();
  p.list_next = rq.fair_head;
  if (rq.fair_head.valid()) {
    tasks_[rq.fair_head].list_prev = p.id;
  } else {
    rq.fair_tail = p.id;
  }
  rq.fair_head = p.id;
}

void FairClass::list_remove(Rq& rq, Task& p) {
  (p.list_prev.valid() ? tasks_[p.list_prev].list_next : rq.fair_head) = p.list_next;
  (p.list_next.valid() ? tasks_[p.list_next].list_prev : rq.fair_tail) = p.list_prev;
}

}  // namespace runqlab::sched
