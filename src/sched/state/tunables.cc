#include "sched/state/tunables.h"

namespace runqlab::sched {
namespace {

constexpr TunableInfo kTable[] = {
    {"base_slice_ns", "a task's request in nanoseconds, after scaling by the number of CPUs",
     100'000, 100'000'000, &Tunables::base_slice_ns, nullptr},
    {"latency_ns", "CFS: the time in which every task of a short queue runs once, after scaling",
     100'000, 1'000'000'000, &Tunables::latency_ns, nullptr},
    {"min_granularity_ns", "CFS: the shortest slice, after scaling", 100'000, 1'000'000'000,
     &Tunables::min_granularity_ns, nullptr},
    {"wakeup_granularity_ns", "CFS: how far behind a wakee must be to preempt, after scaling", 0,
     1'000'000'000, &Tunables::wakeup_granularity_ns, nullptr},
    {"migration_cost_ns", "a task that ran less than this ago is cache hot", 0, 100'000'000,
     &Tunables::migration_cost_ns, nullptr},
    {"rr_timeslice_ns", "slice of a SCHED_RR task, counted in ticks", 1'000'000, 10'000'000'000,
     &Tunables::rr_timeslice_ns, nullptr},
    {"timer_slack_ns", "how late a timer of a fair task may be, to share an interrupt", 0,
     1'000'000'000, &Tunables::timer_slack_ns, nullptr},
    {"nr_migrate", "most tasks that one load-balance pass looks at", 1, 100'000, nullptr,
     &Tunables::nr_migrate},
};

}  // namespace

std::string_view to_string(Preempt p) {
  switch (p) {
    case Preempt::none:
      return "none";
    case Preempt::voluntary:
      return "voluntary";
    case Preempt::full:
      return "full";
    case Preempt::lazy:
      return "lazy";
  }
  return "?";
}

std::span<const TunableInfo> tunable_table() { return kTable; }

const TunableInfo* find_tunable(std::string_view name) {
  for (const TunableInfo& t : kTable) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

}  // namespace runqlab::sched
