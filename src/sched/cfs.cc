#include "sched/cfs.h"

#include <algorithm>

namespace runqlab::sched::cfs {
namespace {

bool idle_among_others(const CfsRq& q, const Entity& se) {
  const uint32_t others = q.nr_queued - (se.on_rq ? 1 : 0);
  const uint32_t idle_others = q.nr_idle_policy - (se.on_rq && se.idle_policy ? 1 : 0);
  return se.idle_policy && others != idle_others;
}

// Curr, if it is queued and its vruntime is the smaller one.
Entity* smaller(Entity* left, Entity* curr) {
  return left == nullptr || (curr != nullptr && curr->vruntime < left->vruntime) ? curr : left;
}

}  // namespace

void timeline_insert(CfsRq& q, Entity& se) {
  se.queue_seq = q.next_seq++;
  q.timeline.insert(se.vruntime, se.vruntime, se.queue_seq, &se);
}

void timeline_erase(CfsRq& q, Entity& se) { q.timeline.erase(se.vruntime, se.queue_seq); }

int64_t slice(const FairParams& k, const CfsRq& q, const Entity& se) {
  const int64_t n = q.nr_queued + (se.on_rq ? 0 : 1);
  const int64_t period = n > k.nr_latency ? n * k.min_granularity_ns : k.latency_ns;
  const LoadWeight all{q.load + (se.on_rq ? 0 : se.load.stored), 0};
  const auto s =
      static_cast<int64_t>(calc_delta(static_cast<uint64_t>(period), se.load.stored, all));
  if (!k.feat.base_slice_floor) return s;
  return std::max(s, idle_among_others(q, se) ? k.idle_min_granularity_ns : k.min_granularity_ns);
}

int64_t vslice(const FairParams& k, const CfsRq& q, const Entity& se) {
  return calc_delta_fair(slice(k, q, se), se.load);
}

void place(const FairParams& k, const CfsRq& q, Entity& se, bool wakeup) {
  if (se.relative) {
    se.vruntime += q.reference;
    se.relative = false;
  }
  if (!wakeup) return;
  int64_t credit = se.idle_policy ? k.min_granularity_ns : k.latency_ns;
  if (k.feat.gentle_fair_sleepers) credit /= 2;
  se.vruntime = std::max(se.vruntime, q.reference - credit);
}

void place_child(const FairParams& k, const CfsRq& q, Entity& child) {
  child.vruntime = q.curr != nullptr ? q.curr->vruntime : q.reference;
  const int64_t debit = k.feat.start_debit ? vslice(k, q, child) : 0;
  child.vruntime = std::max(child.vruntime, q.reference + debit);
  make_relative(q, child);
}

void make_relative(const CfsRq& q, Entity& se) {
  if (se.relative) return;
  se.vruntime -= q.reference;
  se.relative = true;
}

void update_min_vruntime(CfsRq& q) {
  const bool curr = q.curr != nullptr && q.curr->on_rq;
  int64_t v = curr ? q.curr->vruntime : q.reference;
  if (!q.timeline.empty()) {
    const int64_t left = q.timeline.front().vruntime;
    v = curr ? std::min(v, left) : left;
  }
  q.reference = std::max(q.reference, v);
}

int preempt_test(const FairParams& k, const Entity& curr, const Entity& se) {
  const int64_t behind = curr.vruntime - se.vruntime;
  if (behind <= 0) return -1;
  return behind > calc_delta_fair(k.wakeup_granularity_ns, se.load) ? 1 : 0;
}

Entity* pick(const FairParams& k, const CfsRq& q) {
  Entity* const curr = q.curr != nullptr && q.curr->on_rq ? q.curr : nullptr;
  const auto& t = q.timeline;
  Entity* const left = smaller(t.empty() ? nullptr : t.front().entity, curr);
  if (left == nullptr) return nullptr;
  Entity* se = left;
  if (q.skip == se) {
    // The one after it: the first of the timeline if curr was left, else the second.
    const size_t place = se == curr ? 0 : 1;
    Entity* const next =
        t.size() > place ? (t.begin() + static_cast<std::ptrdiff_t>(place))->entity : nullptr;
    Entity* const second = se == curr ? next : smaller(next, curr);
    if (second != nullptr && preempt_test(k, *second, *left) < 1) se = second;
  }
  if (q.next != nullptr && preempt_test(k, *q.next, *left) < 1) return q.next;
  if (q.last != nullptr && preempt_test(k, *q.last, *left) < 1) return q.last;
  return se;
}

bool slice_is_over(const FairParams& k, CfsRq& q) {
  const Entity& curr = *q.curr;
  if (q.nr_queued <= 1) return false;
  const int64_t ideal = slice(k, q, curr);
  const int64_t ran = curr.sum_exec_ns - curr.prev_sum_exec_ns;
  if (ran > ideal) {
    clear_buddies(q, curr);  // it must not come back as somebody's buddy
    return true;
  }
  if (ran < k.min_granularity_ns || q.timeline.empty()) return false;
  return curr.vruntime - q.timeline.front().vruntime > ideal;
}

void clear_buddies(CfsRq& q, const Entity& se) {
  for (Entity** buddy : {&q.next, &q.last, &q.skip}) {
    if (*buddy == &se) *buddy = nullptr;
  }
}

}  // namespace runqlab::sched::cfs
