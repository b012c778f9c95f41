#include "sched/eevdf.h"

#include <algorithm>

namespace runqlab::sched::eevdf {
namespace {

int64_t weight(const Entity& se) { return static_cast<int64_t>(scaled_down(se.load.stored)); }

bool curr_queued(const CfsRq& q) { return q.curr != nullptr && q.curr->on_rq; }

int64_t floor_div(__int128 sum, int64_t by) {
  if (sum == static_cast<int64_t>(sum)) {
    const auto s = static_cast<int64_t>(sum);
    const int64_t d = s / by;
    return s % by < 0 ? d - 1 : d;
  }
  const __int128 d = sum / by;
  return static_cast<int64_t>(sum % by < 0 ? d - 1 : d);
}

void move_reference(CfsRq& q, int64_t to) {
  q.weighted_sum -= static_cast<__int128>(q.timeline_weight) * (to - q.reference);
  q.reference = to;
}

// Folds the slices of everything queued into `s`. Without slices of their own all are equal.
template <class F>
int64_t fold_slices(const CfsRq& q, int64_t s, F&& f) {
  if (curr_queued(q)) s = f(s, q.curr->slice_ns);
  for (const Timeline::Node& n : q.timeline) {
    s = f(s, n.entity->slice_ns);
    if (q.timeline_custom == 0) break;
  }
  return s;
}

int64_t smallest_slice(const CfsRq& q) {
  return fold_slices(q, INT64_MAX, [](int64_t a, int64_t b) { return std::min(a, b); });
}

int64_t largest_slice(const CfsRq& q, const Entity& se) {
  return fold_slices(q, se.slice_ns, [](int64_t a, int64_t b) { return std::max(a, b); });
}

}  // namespace

int64_t virtual_time(const FairParams& k, CfsRq& q) {
  __int128 sum = q.weighted_sum;
  auto load = static_cast<int64_t>(q.timeline_weight);
  if (curr_queued(q)) {
    sum += static_cast<__int128>(weight(*q.curr)) * (q.curr->vruntime - q.reference);
    load += weight(*q.curr);
  }
  if (load == 0) return q.reference;
  const int64_t v = q.reference + floor_div(sum, load);
  if (k.feat.reference_is_last_v) move_reference(q, v);
  return v;
}

void timeline_insert(CfsRq& q, Entity& se) {
  se.queue_seq = q.next_seq++;
  q.timeline.insert(se.deadline, se.vruntime, se.queue_seq, &se);
  const int64_t w = weight(se);
  q.weighted_sum += static_cast<__int128>(w) * (se.vruntime - q.reference);
  q.timeline_weight += static_cast<uint64_t>(w);
  q.timeline_custom += se.custom_slice ? 1 : 0;
}

void timeline_erase(CfsRq& q, Entity& se) {
  q.timeline.erase(se.deadline, se.queue_seq);
  const int64_t w = weight(se);
  q.weighted_sum -= static_cast<__int128>(w) * (se.vruntime - q.reference);
  q.timeline_weight -= static_cast<uint64_t>(w);
  q.timeline_custom -= se.custom_slice ? 1 : 0;
}

int64_t lag_of(const FairParams& k, CfsRq& q, const Entity& se) {
  const int64_t request = k.feat.lag_limit_queue ? largest_slice(q, se) + k.tick_ns
                                                 : std::max(2 * se.slice_ns, k.tick_ns);
  const int64_t limit = calc_delta_fair(request, se.load);
  return std::clamp(virtual_time(k, q) - se.vruntime, -limit, limit);
}

void place(const FairParams& k, CfsRq& q, Entity& se, bool initial) {
  if (!se.custom_slice) se.slice_ns = k.base_slice_ns;
  int64_t vslice = calc_delta_fair(se.slice_ns, se.load);
  const int64_t v = virtual_time(k, q);
  int64_t lag = 0;
  if (k.feat.place_lag && q.nr_queued != 0 && se.vlag != 0) {
    // Inserting pulls V towards the new entity; the inflated lag is what is left as `vlag` then.
    const int64_t others =
        static_cast<int64_t>(q.timeline_weight) + (curr_queued(q) ? weight(*q.curr) : 0);
    lag = static_cast<int64_t>(static_cast<__int128>(se.vlag) * (others + weight(se)) /
                               std::max<int64_t>(others, 1));
  }
  se.vruntime = v - lag;
  if (k.feat.place_rel_deadline && se.rel_deadline) {
    se.deadline += se.vruntime;
    se.rel_deadline = false;
    return;
  }
  if (k.feat.place_deadline_initial && initial) vslice /= 2;
  se.deadline = se.vruntime + vslice;
}

bool renew_deadline(const FairParams& k, Entity& se) {
  if (se.vruntime < se.deadline) return false;
  if (!se.custom_slice) se.slice_ns = k.base_slice_ns;
  se.deadline = se.vruntime + calc_delta_fair(se.slice_ns, se.load);
  return true;
}

void protect(const FairParams& k, const CfsRq& q, Entity& se) {
  se.vprot = se.deadline;
  if (!k.feat.vprot) return;
  // The entity itself has left the timeline; its own slice counts below.
  int64_t shortest = k.base_slice_unscaled_ns;
  if (k.feat.run_to_parity) shortest = smallest_slice(q);
  const int64_t slice = std::min(se.slice_ns, shortest);
  if (slice != se.slice_ns) {
    se.vprot = std::min(se.deadline, se.vruntime + calc_delta_fair(slice, se.load));
  }
}

bool is_protected(const FairParams& k, const Entity& se) {
  return k.feat.vprot ? se.vruntime < se.vprot : se.deadline == se.vprot;
}

void cancel_protection(Entity& se) {
  // Below every later vruntime, and equal to no deadline.
  se.vprot = se.vruntime;
}

void shrink_protection(const CfsRq& q, Entity& se) {
  se.vprot = std::min(se.vprot, se.vruntime + calc_delta_fair(smallest_slice(q), se.load));
}

Entity* pick(const FairParams& k, CfsRq& q, bool keep_protected) {
  Entity* curr = curr_queued(q) ? q.curr : nullptr;
  if (q.nr_queued == 0) return nullptr;
  if (q.nr_queued == 1) return curr != nullptr ? curr : q.timeline.front().entity;
  const int64_t v = virtual_time(k, q);
  if (k.feat.buddy_in_pick && k.feat.pick_buddy && q.next != nullptr && eligible(*q.next, v)) {
    return q.next;
  }
  if (curr != nullptr && !eligible(*curr, v)) curr = nullptr;
  if (curr != nullptr && keep_protected && (k.feat.run_to_parity || k.feat.vprot) &&
      is_protected(k, *curr)) {
    return curr;
  }
  Entity* best = nullptr;
  for (const Timeline::Node& n : q.timeline) {
    if (n.vruntime <= v) {
      best = n.entity;
      break;
    }
  }
  if (best == nullptr || (curr != nullptr && curr->deadline < best->deadline)) return curr;
  return best;
}

void yield(const FairParams& k, CfsRq& q, Entity& se) {
  if (k.feat.yield_forfeits) {
    if (!eligible(se, virtual_time(k, q))) return;
    se.vruntime = se.deadline;
  }
  se.deadline += calc_delta_fair(se.slice_ns, se.load);
}

void update_reference(const FairParams& k, CfsRq& q) {
  if (k.feat.reference_is_last_v) return;
  int64_t v = q.reference;
  if (curr_queued(q)) {
    v = q.curr->vruntime;
    if (!q.timeline.empty()) v = std::min(v, q.timeline.min_vruntime());
  } else if (!q.timeline.empty()) {
    v = q.timeline.min_vruntime();
  }
  if (v > q.reference) move_reference(q, v);
}

}  // namespace runqlab::sched::eevdf
