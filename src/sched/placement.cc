#include "sched/placement.h"

namespace runqlab::sched {

std::string_view to_string(PlacementRule r) {
  switch (r) {
    case PlacementRule::only_allowed:
      return "only-allowed";
    case PlacementRule::current_cpu:
      return "current-cpu";
    case PlacementRule::target_idle:
      return "target-idle";
    case PlacementRule::prev_idle:
      return "prev-idle";
    case PlacementRule::kthread_stack:
      return "kthread-stack";
    case PlacementRule::recent_used:
      return "recent-used";
    case PlacementRule::smt_sibling:
      return "smt-sibling";
    case PlacementRule::idle_core:
      return "idle-core";
    case PlacementRule::idle_cpu:
      return "idle-cpu";
    case PlacementRule::cluster_fallback:
      return "cluster-fallback";
    case PlacementRule::none_idle:
      return "none-idle";
    case PlacementRule::slow_path:
      return "idlest-group";
    case PlacementRule::slow_path_stay:
      return "idlest-group-stay";
    case PlacementRule::rt_stay:
      return "rt-stay";
    case PlacementRule::rt_lowest:
      return "rt-lowest";
    case PlacementRule::fallback:
      return "fallback";
  }
  return "?";
}

std::string_view to_string(AffineRule r) {
  switch (r) {
    case AffineRule::not_asked:
      return "-";
    case AffineRule::this_idle:
      return "this-idle";
    case AffineRule::prev_idle:
      return "prev-idle";
    case AffineRule::sync_alone:
      return "sync-alone";
    case AffineRule::weight_this:
      return "weight-this";
    case AffineRule::weight_prev:
      return "weight-prev";
    case AffineRule::sync_load:
      return "sync-load";
  }
  return "?";
}

}  // namespace runqlab::sched
