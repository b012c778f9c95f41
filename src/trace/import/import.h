// trace/import/import.h — reading recordings. The format is found by looking at the content, never
// at the name; gzip, xz and zstd are unpacked on the way. Streaming: memory does not grow with the
// file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "base/result.h"
#include "base/string_pool.h"
#include "trace/event.h"

namespace runqlab::trace {

enum class Format : uint8_t { perf_script, ftrace_text };
std::string_view to_string(Format f);

struct ImportOptions {
  // Only events with from_ns <= time < to_ns are delivered (recording's clock).
  int64_t from_ns = 0;
  int64_t to_ns = INT64_MAX;
  // Events may be this far out of order in the file; they are delivered in order of time (equal
  // times in file order). An event later than that is delivered where it stands and counted.
  int64_t reorder_window_ns = 10'000'000;
  // Events held back at least, so that a short file is sorted whole, and at most, whatever the
  // window: 64 bytes each, so 1 MiB and 16 MiB.
  size_t reorder_least = size_t{1} << 14;
  size_t reorder_limit = size_t{1} << 18;
};

struct ImportSummary {
  Format format = Format::perf_script;
  uint64_t lines = 0;        // lines of the (decompressed) file
  uint64_t events = 0;       // delivered
  uint64_t lost_events = 0;  // that the recorder says it lost; a loss without a number counts as 1
  int64_t first_ns = 0, last_ns = 0;            // of those
  int64_t file_first_ns = 0, file_last_ns = 0;  // of all events of the file, delivered or not
  uint32_t nr_cpus = 0;                         // highest CPU seen (or announced by the file) + 1
  bool has_context = false;                     // the format carries the interrupt flags
};

// The kinds of Diagnostics an import adds.
namespace import_warning {
inline constexpr std::string_view kNoEvent = "lines that are no event";
inline constexpr std::string_view kBadFields = "events with missing or impossible fields";
inline constexpr std::string_view kLineTooLong = "lines above 64 KiB";
inline constexpr std::string_view kOutOfOrder = "events out of order";
inline constexpr std::string_view kLost = "places where the recorder lost events";
inline constexpr std::string_view kOverwritten = "events overwritten before the recording begins";
}  // namespace import_warning

using EventSink = std::function<void(const Event&)>;

// Calls `sink` for every event of the file, in order of time. Returns an Error when the file cannot
// be opened, is of no known format, holds no event, or a compressed stream is damaged (what was
// delivered until then is to be dropped); a bad line is counted in `diagnostics` with file and line
// and does not end the import. Names go to `names`.
Result<ImportSummary> import_file(const std::string& path, const ImportOptions& options,
                                  StringPool& names, Diagnostics& diagnostics,
                                  const EventSink& sink);

// As import_file for a file's content in memory, compressed or not; `name` is for messages.
Result<ImportSummary> import_text(std::string_view text, const std::string& name,
                                  const ImportOptions& options, StringPool& names,
                                  Diagnostics& diagnostics, const EventSink& sink);

}  // namespace runqlab::trace
