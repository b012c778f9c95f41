// sched/kernel_config.h — kernel releases as bundles of switches, and arms: one comma list such as
// "6.18.44,NO_TTWU_QUEUE,base_slice_ns=700000,preempt=full" (DESIGN.md, "What the user types").
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sched/fair_params.h"
#include "sched/state/features.h"
#include "sched/state/tunables.h"

namespace runqlab::sched {

struct KernelConfig {
  std::string kernel;  // as the user named it
  Version version{};   // whose rules are used
  Features features{};
  Tunables tunables{};
  Duration base_slice_unscaled{};     // before scaling by the number of CPUs
  std::vector<std::string> unknown;   // rules of this kernel that are not modelled, to be printed
  std::vector<std::string> switches;  // what the arm changed, in its words

  // As parse_arm takes it, complete.
  [[nodiscard]] std::string arm() const;
  // Equal scheduler behaviour (names and notes aside).
  [[nodiscard]] std::string identity() const;
};

// The kernels whose rules are known, oldest first.
struct KernelInfo {
  std::string_view name;
  std::string_view origin;  // of a stable or distribution kernel; empty for a release
};
std::span<const KernelInfo> kernel_table();

// A release "x.y" or "x.y.z". Releases between two profiles take the changes dated by release;
// those outside the known range take the nearest profile and say so in `unknown`.
Result<KernelConfig> kernel_of(std::string_view name);

// An arm. Without a kernel in it, `base` is changed. Errors: unknown word (nearest names in the
// hint), value out of range, two kernels, one switch said twice (in contradiction or not). A word
// replaces what `base` says about the same switch.
Result<KernelConfig> parse_arm(std::string_view text, const KernelConfig& base);

// base_slice_ns for a machine with this many CPUs (FAIR.md A.3, B.2).
Duration base_slice(const KernelConfig& config, size_t online_cpus);

}  // namespace runqlab::sched
