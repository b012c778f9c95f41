// Fuzz entry of run files.
#ifdef RUNQLAB_FUZZ

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analysis/run_file.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace runqlab;
  const auto run = analysis::parse_run_file({reinterpret_cast<const char*>(data), size}, "fuzz");
  RQL_CHECK(run ? !run->arms.empty() : !run.error().message.empty());
  return 0;
}

#endif  // RUNQLAB_FUZZ
