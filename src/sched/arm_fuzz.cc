// Fuzz entry of arms: what parses can be written out and means the same again.
#ifdef RUNQLAB_FUZZ

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "sched/kernel_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace runqlab::sched;
  const KernelConfig base = kernel_of("6.18").value();
  const auto arm = parse_arm({reinterpret_cast<const char*>(data), size}, base);
  if (!arm) {
    RQL_CHECK(!arm.error().message.empty());
    return 0;
  }
  const auto again = parse_arm(arm->arm(), base);
  RQL_CHECK(again.ok() && again->identity() == arm->identity());
  return 0;
}

#endif  // RUNQLAB_FUZZ
