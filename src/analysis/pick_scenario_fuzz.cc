// Fuzz entry of pick scenarios: what parses runs under both pick policies.
#ifdef RUNQLAB_FUZZ

#include <cstddef>
#include <cstdint>

#include "analysis/pick_scenario.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace runqlab;
  const auto scenarios =
      analysis::parse_pick_scenarios({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!scenarios) {
    RQL_CHECK(!scenarios.error().message.empty());
    return 0;
  }
  for (const analysis::PickScenario& s : *scenarios) {
    for (const char* kernel : {"6.1", "6.18"}) {
      analysis::pick_decisions(s, sched::kernel_of(kernel).value(), 200);
    }
  }
  return 0;
}

#endif  // RUNQLAB_FUZZ
