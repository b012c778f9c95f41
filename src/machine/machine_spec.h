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
//
//   [guest]                            # its CPUs are virtual: see struct Guest
//   gone_after_ns = 1000000
//   pack_below = 717                   # 0..1024; default 0: does not pack
//   late_exit_ns = [[2000000, 6600, 0], [16000000, 20300, 20000]]
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

// What virtual CPUs do that others do not: the host takes the physical CPU away while they halt.
struct Guest {
  // A guest with steal time accounting sees a CPU as preempted when it has halted for this long,
  // and placement then does not take it for idle (FAIR.md D.5, "the virtual CPU not preempted").
  std::optional<Duration> gone_after{};
  // Its kernel does not search the last-level cache for an idle CPU (select_idle_cpu finds none)
  // while the utilization of the target, of 1024, is below this, so as not to bring another virtual
  // CPU back. No mainline kernel does that.
  uint32_t pack_below = 0;
  // After a rest of at least `rest`, leaving the idle state takes `exit` more, and the first code
  // after it, with cold caches, `cold` more; ascending.
  struct LateExit {
    Duration rest;
    Duration exit;
    Duration cold;
  };
  std::vector<LateExit> late_exit{};
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
  Guest guest{};

  [[nodiscard]] Duration tick() const { return Duration::nanos(1'000'000'000 / hz); }
};

// `spec` is a preset name, the path of a machine TOML file (it ends in .toml), or an hwloc
// synthetic string. Errors name file, line and column; an unknown preset lists the nearest names.
Result<MachineSpec> load_machine(std::string_view spec);
// Of an hwloc synthetic string, with assumed costs.
Result<MachineSpec> synthetic_machine(std::string_view text);
// A machine file's text; `file` is for messages and gives the name.
Result<MachineSpec> parse_machine(std::string_view text, std::string_view file);

// "name=value" as in --cost context_switch_ns=900; the value may have a unit (base/numbers.h).
// Errors: unknown name (nearest names in the hint), value outside costs.def's range.
Status set_cost(MachineSpec& machine, std::string_view assignment);

// In the order of the alphabet.
std::vector<std::string> preset_names();

}  // namespace runqlab::machine
