// sched/eevdf.h — the EEVDF pick policy on one queue: virtual time, lag, placement, pick, slice
// protection (FAIR.md B). Pure arithmetic on the queue's state: nothing here sees CPUs or time.
#pragma once

#include <cstdint>

#include "sched/fair_params.h"
#include "sched/state/entity.h"

namespace runqlab::sched::eevdf {

// V: the weighted mean of the vruntimes of everything queued, rounded down; the reference when
// nothing is. With REFERENCE_IS_LAST_V it becomes the reference.
int64_t virtual_time(const FairParams& k, CfsRq& q);

// Whether `se` has received no more than its share: v <= V. Equal to the product test of B.1, since
// vruntimes are integers and V is rounded down.
inline bool eligible(const Entity& se, int64_t v) { return se.vruntime <= v; }

// Timeline of everything queued but curr.
void timeline_insert(CfsRq& q, Entity& se);
void timeline_erase(CfsRq& q, Entity& se);

// Lag that `se` would leave with, limited (B.1).
int64_t lag_of(const FairParams& k, CfsRq& q, const Entity& se);

// Sets vruntime and deadline for insertion (B.3). `se` is not in the queue's sums.
void place(const FairParams& k, CfsRq& q, Entity& se, bool initial);

// Renews the request when it is used up; true when it was.
bool renew_deadline(const FairParams& k, Entity& se);

// Slice protection (B.5).
void protect(const FairParams& k, const CfsRq& q, Entity& se);
bool is_protected(const FairParams& k, const Entity& se);
void cancel_protection(Entity& se);
// After a wakeup that did not preempt: no longer than the smallest slice queued.
void shrink_protection(const CfsRq& q, Entity& se);

// The entity to run (B.4), curr among them; null when nothing is queued. It may be a delayed one.
// `keep_protected`: a protected, eligible curr stays.
Entity* pick(const FairParams& k, CfsRq& q, bool keep_protected);

// Yield (B.10).
void yield(const FairParams& k, CfsRq& q, Entity& se);

// Moves the reference on as the queue's state says (through 6.17: it never moves back).
void update_reference(const FairParams& k, CfsRq& q);

}  // namespace runqlab::sched::eevdf
