// machine/costs.h — the named costs of a machine. One table (costs.def) gives name, default, range
// and meaning; a machine file gives values with their sources.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"

namespace runqlab::machine {

struct Costs {
#define RQL_COST(name, value, low, high, what) Duration name = Duration::nanos(value);
#include "machine/costs.def"
#undef RQL_COST

  bool operator==(const Costs&) const = default;
};

struct CostInfo {
  std::string_view name;
  int64_t default_ns;
  int64_t low_ns, high_ns;  // inclusive range of sensible values
  std::string_view what;
  Duration Costs::* field;
};

// All costs in the order of costs.def.
std::span<const CostInfo> cost_table();
// Null when no cost has this name.
const CostInfo* find_cost(std::string_view name);
// `did you mean …?` for a name that find_cost does not know.
std::string cost_hint(std::string_view name);

}  // namespace runqlab::machine
