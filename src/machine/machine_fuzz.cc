// Fuzz entry of machine descriptions: a machine file, or after a first byte 's' a synthetic string.
#ifdef RUNQLAB_FUZZ

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "machine/machine_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace runqlab::machine;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with('s')) {
    const auto topology = Topology::from_synthetic(text.substr(1), CpuNumbering::threads_last);
    RQL_CHECK(topology ? topology->nr_cpus() > 0 : !topology.error().message.empty());
  } else {
    const auto spec = parse_machine(text, "fuzz.toml");
    RQL_CHECK(spec ? spec->topology.nr_cpus() > 0 : !spec.error().message.empty());
  }
  return 0;
}

#endif  // RUNQLAB_FUZZ
