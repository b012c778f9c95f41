// sched/cfs.h — the CFS pick policy on one queue: vruntime, slices, sleeper credit, buddies
// (FAIR.md A.3 to A.11), the pick policy of kernels before 6.6. The same functions as sched/eevdf.h
// where both policies have the step. Pure arithmetic on the queue's state: nothing here sees CPUs
// or time.
#pragma once

#include <cstdint>

#include "sched/fair_params.h"
#include "sched/state/entity.h"

namespace runqlab::sched::cfs {

// Queued entities but curr, by vruntime; equal ones in order of insertion.
void timeline_insert(CfsRq& q, Entity& se);
void timeline_erase(CfsRq& q, Entity& se);

// How long `se` may run before it must give way, and the same in its virtual time (A.5). It counts
// as queued even if it is not yet.
int64_t slice(const FairParams& k, const CfsRq& q, const Entity& se);
int64_t vslice(const FairParams& k, const CfsRq& q, const Entity& se);

// A vruntime relative to the queue's min_vruntime gets its base back; a wakeup then gets its
// sleeper credit (A.6). `se` is not queued.
void place(const FairParams& k, const CfsRq& q, Entity& se, bool wakeup);
// A new child's vruntime, relative to the queue of its parent, which runs there.
void place_child(const FairParams& k, const CfsRq& q, Entity& child);
// The vruntime becomes relative: `se` will be queued elsewhere, or anew.
void make_relative(const CfsRq& q, Entity& se);

// min_vruntime is the queue's `reference`: it follows the smallest vruntime and never moves back.
void update_min_vruntime(CfsRq& q);

// The entity to run (A.8), curr among them; null when nothing is queued.
Entity* pick(const FairParams& k, const CfsRq& q);
// Whether `se` is so far behind `curr` that it should preempt it: 1 if by more than the wakeup
// granularity, 0 if by less, -1 if not at all (A.8).
int preempt_test(const FairParams& k, const Entity& curr, const Entity& se);

// Whether curr, at a tick, has had its slice or is a slice ahead of the next one (A.9).
bool slice_is_over(const FairParams& k, CfsRq& q);

// The entity is not the next, last or skip buddy any more.
void clear_buddies(CfsRq& q, const Entity& se);

}  // namespace runqlab::sched::cfs
