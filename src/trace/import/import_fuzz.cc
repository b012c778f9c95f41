// Fuzz entry of the importers.
#ifdef RUNQLAB_FUZZ

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "trace/import/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace runqlab;
  StringPool names;
  Diagnostics diagnostics;
  uint64_t seen = 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto summary =
      trace::import_text(text, "fuzz", {}, names, diagnostics, [&](const trace::Event& e) {
        ++seen;
        RQL_CHECK(e.time_ns >= 0 && e.task_pid >= -1);
        RQL_CHECK(!e.comm.valid() || e.comm.index() < names.size());
      });
  if (summary) RQL_CHECK(summary->events == seen);
  return 0;
}

#endif  // RUNQLAB_FUZZ
