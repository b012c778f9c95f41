// sched/state/tunables.h — the numbers that sysctl and debugfs expose, with the kernel's names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/types.h"

namespace runqlab::sched {

// When need_resched, once set, is acted on (FAIR.md F.3).
enum class Preempt : uint8_t { none, voluntary, full, lazy };
std::string_view to_string(Preempt p);

struct Tunables {
  // As debugfs shows it, that is, after scaling by the number of CPUs; 0: the release's value
  // scaled for the machine (FAIR.md A.3, B.2).
  Duration base_slice_ns{};
  // CFS, likewise (FAIR.md A.3).
  Duration latency_ns{}, min_granularity_ns{}, wakeup_granularity_ns{};
  Duration migration_cost_ns = Duration::micros(500);
  Duration rr_timeslice_ns = Duration::millis(100);
  Duration timer_slack_ns = Duration::micros(50);
  int64_t nr_migrate = 32;  // most tasks that one balance pass looks at
  Preempt preempt = Preempt::voluntary;
};

struct TunableInfo {
  std::string_view name;
  std::string_view what;
  int64_t low, high;
  Duration Tunables::* time;   // null: `number`
  int64_t Tunables::* number;  // null: `time`
};

std::span<const TunableInfo> tunable_table();
const TunableInfo* find_tunable(std::string_view name);

}  // namespace runqlab::sched
