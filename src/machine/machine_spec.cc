#include "machine/machine_spec.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/numbers.h"
#include "base/suggest.h"
#include "machine/embedded_presets.h"

namespace runqlab::machine {
namespace {

constexpr std::string_view kTomlSuffix = ".toml";
constexpr size_t kMaxFile = size_t{1} << 20;  // a device would never end

Result<std::string> read_file(const std::string& path) {
  const auto wrong = [&](std::string_view why) {
    return Error{.message = "cannot read this machine file: " + std::string(why), .file = path};
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return wrong("it is a directory");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return wrong(std::strerror(errno));
  std::string text(kMaxFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return wrong(std::strerror(errno));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kMaxFile) return wrong("it is longer than 1 MiB");
  return text;
}

// "pack:2 core:4 pu:1" and "2 4 2", but not "epyc" or "vm-3".
bool looks_synthetic(std::string_view spec) {
  return spec.find_first_of(": ") != std::string_view::npos ||
         (!spec.empty() && spec.find_first_not_of("0123456789") == std::string_view::npos);
}

}  // namespace

Result<MachineSpec> synthetic_machine(std::string_view text) {
  Result<Topology> topology = Topology::from_synthetic(text, CpuNumbering::threads_last);
  if (!topology) return topology.error();
  MachineSpec spec;
  spec.name = text;
  spec.description = "topology from the command line, costs assumed";
  spec.definition = text;
  spec.topology = std::move(*topology);
  return spec;
}

Result<MachineSpec> load_machine(std::string_view spec) {
  if (spec.ends_with(kTomlSuffix)) {
    const Result<std::string> text = read_file(std::string(spec));
    if (!text) return text.error();
    return parse_machine(*text, spec);
  }
  std::vector<std::string_view> names;
  for (const EmbeddedPreset& p : embedded_presets()) {
    if (p.name == spec) return parse_machine(p.text, std::string(p.name) + ".toml");
    names.push_back(p.name);
  }
  if (looks_synthetic(spec)) return synthetic_machine(spec);
  return Error{.message = "unknown machine",
               .token = std::string(spec),
               .hint = did_you_mean(spec, names, "runqlab list machines") +
                       " (or the path of a .toml file, or a topology such as \"pack:2 [numa] l3:1 "
                       "core:18 pu:2\")"};
}

Status set_cost(MachineSpec& machine, std::string_view assignment) {
  const auto wrong = [&](std::string message, std::string_view hint) {
    return Error{
        .message = std::move(message), .token = std::string(assignment), .hint = std::string(hint)};
  };
  constexpr std::string_view kExample = "example: context_switch_ns=900 or context_switch_ns=2us";
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) return wrong("expected NAME=VALUE", kExample);
  const std::string_view name = assignment.substr(0, equals);
  const CostInfo* cost = find_cost(name);
  if (cost == nullptr) return wrong("unknown cost", cost_hint(name));
  const auto value = parse_duration(assignment.substr(equals + 1));
  if (!value) return wrong("expected a duration", kExample);
  const int64_t ns = value->ns();
  if (ns < cost->low_ns || ns > cost->high_ns) {
    return wrong("value outside " + std::to_string(cost->low_ns) + ".." +
                     std::to_string(cost->high_ns) + " ns",
                 "");
  }
  machine.costs.*cost->field = *value;
  machine.cost_sources.insert_or_assign(
      std::string(name), CostSource{.text = "set by the user", .low_ns = ns, .high_ns = ns});
  return Ok{};
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const EmbeddedPreset& p : embedded_presets()) names.emplace_back(p.name);
  return names;
}

}  // namespace runqlab::machine
