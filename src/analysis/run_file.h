// analysis/run_file.h — a run on disk (-o): all that is needed to run it again, and what came out.
// A line of JSON that people can read, then the programs of a replay, compressed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "machine/machine_spec.h"
#include "trace/replay.h"

namespace runqlab::analysis {

struct StoredArm {
  std::string arm;  // as sched::parse_arm takes it, complete: begins with a kernel
  machine::MachineSpec machine;
  uint64_t seed = 1;
  uint64_t state_hash = 0;  // of the run
};

struct RunFile {
  std::string version;  // of the runqlab that wrote it
  std::vector<StoredArm> arms;
  // A replay carries its programs, a built-in workload its specification.
  std::optional<trace::Replay> replay;
  std::string workload;  // specification, or the recording's name
};

Status write_run_file(const std::string& path, const RunFile& run);
// Errors: cannot be opened, not a run file, cut off, damaged, of another version's layout.
Result<RunFile> read_run_file(const std::string& path);
Result<RunFile> parse_run_file(std::string_view bytes, const std::string& name);

}  // namespace runqlab::analysis
