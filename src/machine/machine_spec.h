// machine/machine_spec.h — a machine as the user describes it: topology, costs with their sources,
// tick rate and how its CPUs idle. Machine files are TOML; only `topology` must be there:
//
//   [machine]
//   description = "one line"
//   topology = "pack:2 [numa] l3:1 core:18 pu:2"   # hwloc synthetic (topology.h)
//   numbering = "threads_last"         # default; or "as_given", "alternate_nodes"
//   node_distance = [[10, 21], [21, 10]]           # ACPI SLIT, one row per NUMA node
//   hz = 250                           # default; or 100, 300, 1000
//   idle = "interrupt"                 # default; or "polls": the idle state watches the flags word
//   vcpu_gone_after_ns = 1000000       # a guest that sees steal time: see MachineSpec
//
//   [costs]                            # names and limits: costs.def
//   context_switch_ns = { ns = 424, range = [380, 900], source = "where it was measured" }
//   syscall_ns = 90                    # same as { ns = 90 }: the source is "assumed"
//
// A missing source is "assumed", a missing range is the one of costs.def. Anything else in the file
// is an error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "machine/costs.h"
#include "machine/topology.h"

namespace runqlab::machine {

struct CostSource {
  std::string text;                 // where the value comes from, or "assumed"
  int64_t low_ns = 0, high_ns = 0;  // plausible range on this machine, inclusive
};

struct MachineSpec {
  std::string name;         // preset name, file name without .toml, or synthetic text
  std::string description;  // one line
  std::string definition;   // the machine file's text, or the synthetic description
  bool from_file = false;   // `definition` is a machine file
  Topology topology;
  Costs costs;
  std::map<std::string, CostSource, std::less<>> cost_sources;  // only costs that were set
  uint32_t hz = 250;                                            // ticks per second
  bool idle_polls = false;  // the idle state watches the flags word: no IPI is needed
  // A guest with steal time accounting sees a halted CPU as preempted once the host has given it
  // away, and placement then does not take it for idle (FAIR.md D.5, "the virtual CPU not
  // preempted"). After how long that is; nothing on other machines.
  std::optional<Duration> vcpu_gone_after{};

  [[nodiscard]] Duration tick() const { return Duration::nanos(1'000'000'000 / hz); }
};

// `spec` is a preset name, the path of a machine TOML file (it ends in .toml), or an hwloc
// synthetic string. Errors name file, line and column; an unknown preset lists the nearest names.
Result<MachineSpec> load_machine(std::string_view spec);
// A machine file's text; `file` is for messages and gives the name.
Result<MachineSpec> parse_machine(std::string_view text, std::string_view file);

// "name=value" as in --cost context_switch_ns=900; the value may have a unit (base/numbers.h).
// Errors: unknown name (nearest names in the hint), value outside costs.def's range.
Status set_cost(MachineSpec& machine, std::string_view assignment);

// In the order of the alphabet.
std::vector<std::string> preset_names();

}  // namespace runqlab::machine
