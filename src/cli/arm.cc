#include "cli/arm.h"

#include <fmt/core.h>

namespace runqlab::cli {
namespace {

constexpr std::string_view kMachine = "machine=";
constexpr std::string_view kAssumedKernel = "6.18";

struct Words {
  std::string kernel;  // those that sched::parse_arm knows
  std::vector<std::string> machines;
};

Words split(std::string_view text) {
  Words words;
  bool first = true;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (word.starts_with(kMachine)) {
      words.machines.emplace_back(word.substr(kMachine.size()));
      continue;
    }
    if (!first) words.kernel += ',';
    words.kernel += word;
    first = false;
  }
  return words;
}

}  // namespace

Result<Arm> base_arm(const CommonOptions& o, std::string_view default_machine) {
  auto machine = machine_of(o, o.machine.empty() ? std::string(default_machine) : o.machine);
  if (!machine) return machine.error();
  if (!split(o.kernel).machines.empty()) {
    return Error{.message = "--kernel says no machine", .token = o.kernel, .hint = "use --machine"};
  }
  auto base = sched::kernel_of(kAssumedKernel);
  if (!base) return base.error();
  auto kernel = sched::parse_arm(o.kernel, *base);
  if (!kernel) return kernel.error();
  return Arm{.title = "A", .kernel = std::move(*kernel), .machine = std::move(*machine)};
}

Result<Arm> parse_arm(std::string title, std::string_view text, const Arm& base) {
  const Words words = split(text);
  auto kernel = sched::parse_arm(words.kernel, base.kernel);
  if (!kernel) return kernel.error();
  Arm arm{.title = std::move(title), .kernel = std::move(*kernel), .machine = {}};
  if (words.machines.empty()) {
    arm.machine = base.machine;
    return arm;
  }
  if (words.machines.size() > 1) {
    return Error{.message = "an arm says machine twice",
                 .token = std::string(text),
                 .hint = "it runs on one: keep one"};
  }
  auto machine = machine::load_machine(words.machines.front());
  if (!machine) return machine.error();
  arm.machine = std::move(*machine);
  return arm;
}

Result<std::vector<Arm>> b_arms(const ArmOptions& o, const Arm& a) {
  constexpr size_t kMost = 'Z' - 'A';
  if (o.b.size() > kMost) {
    return Error{
        .message = fmt::format("{} arms, but a table holds {} beside A", o.b.size(), kMost),
        .hint = "compare in several calls"};
  }
  std::vector<Arm> arms;
  char title = 'B';
  for (const std::string& text : o.b) {
    auto arm = parse_arm(std::string(1, title++), text, a);
    if (!arm) return arm.error();
    arms.push_back(std::move(*arm));
  }
  return arms;
}

bool same_machine(const machine::MachineSpec& x, const machine::MachineSpec& y) {
  return x.definition == y.definition && x.name == y.name && x.costs == y.costs;
}

std::string arm_words(const Arm& arm, const machine::MachineSpec& base) {
  std::string s =
      fmt::format("{}, preempt {}", arm.kernel.arm(), to_string(arm.kernel.tunables.preempt));
  if (!same_machine(arm.machine, base)) {
    s += fmt::format(", on {} ({} CPUs)", arm.machine.name, arm.machine.topology.nr_cpus());
  }
  return s;
}

}  // namespace runqlab::cli
