// trace/program_blob.h — a replay's programs as bytes, for run files: a run can be repeated without
// its recording. Reading is bounds-checked: the bytes may come from anywhere.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/replay.h"

namespace runqlab::trace {

std::string to_blob(const Replay& replay);
// Errors: not such bytes, cut off, or numbers that no workload may have.
Result<Replay> from_blob(std::string_view bytes, const std::string& name);

}  // namespace runqlab::trace
