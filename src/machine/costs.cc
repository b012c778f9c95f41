#include "machine/costs.h"

#include <vector>

#include "base/suggest.h"

namespace runqlab::machine {
namespace {

constexpr CostInfo kCosts[] = {
#define RQL_COST(name, value, low, high, what) {#name, value, low, high, what, &Costs::name},
#include "machine/costs.def"
#undef RQL_COST
};

// A default outside its own range would make a machine without a [costs] table invalid.
constexpr bool defaults_lie_in_their_ranges() {
  for (const CostInfo& c : kCosts) {
    if (c.default_ns < c.low_ns || c.default_ns > c.high_ns) return false;
  }
  return true;
}
static_assert(defaults_lie_in_their_ranges());

}  // namespace

std::span<const CostInfo> cost_table() { return kCosts; }

const CostInfo* find_cost(std::string_view name) {
  for (const CostInfo& c : kCosts) {
    if (c.name == name) return &c;
  }
  return nullptr;
}

std::string cost_hint(std::string_view name) {
  std::vector<std::string_view> known;
  for (const CostInfo& c : kCosts) known.push_back(c.name);
  return did_you_mean(name, known, "runqlab list costs");
}

}  // namespace runqlab::machine
