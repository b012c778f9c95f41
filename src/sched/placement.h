// sched/placement.h — the answer of CPU selection: which CPU, by which rule, from which values.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/types.h"

namespace runqlab::sched {

// The rule that named the CPU (FAIR.md D.4, D.6, D.7, D.9, F.2).
enum class PlacementRule : uint8_t {
  only_allowed,      // one CPU allowed: no choice
  current_cpu,       // WF_CURRENT_CPU
  target_idle,       // the affine target is idle
  prev_idle,         // the previous CPU is idle and shares the cache
  kthread_stack,     // a per-CPU kernel thread wakes its submitter on the same CPU
  recent_used,       // recent_used_cpu is idle and shares the cache
  smt_sibling,       // an idle sibling of the previous CPU
  idle_core,         // the scan found an idle core
  idle_cpu,          // the scan found an idle CPU
  cluster_fallback,  // idle CPU remembered because it lies in another cluster
  none_idle,         // nothing idle found: the target
  slow_path,         // fork or exec: idlest group, idlest CPU
  slow_path_stay,    // fork or exec: nothing better than where it is
  rt_stay,           // an RT task stays where it was
  rt_lowest,         // an RT task goes to the CPU that runs the least urgent task
  fallback,          // the answer was not allowed: another allowed CPU
};
std::string_view to_string(PlacementRule r);

// Which rule of wake_affine chose between the waker's CPU and the previous one (FAIR.md D.5).
enum class AffineRule : uint8_t {
  not_asked,
  this_idle,   // i: this CPU is idle and shares the cache; previous not idle
  prev_idle,   // i: this CPU idle and sharing, but so is the previous one; or iii
  sync_alone,  // ii: sync and the waker runs alone
  weight_this,
  weight_prev,
  sync_load,  // sync and the current task's load is all of this CPU's
};
std::string_view to_string(AffineRule r);

struct Placement {
  CpuId cpu{};
  PlacementRule rule = PlacementRule::only_allowed;
  AffineRule affine = AffineRule::not_asked;
  uint16_t probes = 0;  // CPUs looked at by the scan
  // The values that decided. Weight rules of wake_affine: effective load of the waker's and of the
  // previous CPU. Else with none_idle: tasks queued on the waker's and on the previous CPU. Else 0.
  int32_t left = 0, right = 0;
};
constexpr bool compares_load(AffineRule r) {
  return r == AffineRule::weight_this || r == AffineRule::weight_prev;
}

}  // namespace runqlab::sched
