// cli/arm.h — an arm of an experiment: a kernel's arm (sched/kernel_config.h) and, with the word
// machine=NAME among the others, the machine that it runs on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "machine/machine_spec.h"
#include "sched/kernel_config.h"

namespace runqlab::cli {

struct Arm {
  std::string title;
  sched::KernelConfig kernel;
  machine::MachineSpec machine;
};

// --kernel on --machine, or on `default_machine`. --cost belongs to this machine; the others keep
// the costs of their files.
Result<Arm> base_arm(const CommonOptions& options, std::string_view default_machine);

// A comma list. What it does not say is as in `base`.
Result<Arm> parse_arm(std::string title, std::string_view text, const Arm& base);

// The arms of --b on top of A, titled B, C, …; as many as there are letters.
Result<std::vector<Arm>> b_arms(const ArmOptions& options, const Arm& a);

// What an arm stands for, for the head of an output; its machine if that is not `recorded`'s.
std::string arm_words(const Arm& arm, const machine::MachineSpec& base);

bool same_machine(const machine::MachineSpec& x, const machine::MachineSpec& y);

}  // namespace runqlab::cli
