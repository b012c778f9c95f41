// machine/machine_file.cc — parse_machine: the TOML schema at the head of machine_spec.h.
#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "base/suggest.h"
#include "machine/machine_spec.h"
#include "machine/machine_toml.h"
#include "machine/toml_ascii.h"

namespace runqlab::machine {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kTables[] = {"machine", "guest", "costs"};
constexpr std::string_view kMachineKeys[] = {"description",   "topology", "numbering",
                                             "node_distance", "hz",       "idle"};
constexpr std::string_view kGuestKeys[] = {"gone_after_ns", "late_exit_ns", "pack_below"};
constexpr std::string_view kCostKeys[] = {"ns", "range", "source"};

constexpr std::pair<std::string_view, CpuNumbering> kNumberings[] = {
    {"as_given", CpuNumbering::as_given},
    {"threads_last", CpuNumbering::threads_last},
    {"alternate_nodes", CpuNumbering::alternate_nodes},
};
constexpr std::array<int64_t, 4> kHz = {100, 250, 300, 1000};  // what Linux can be built with

class MachineFile {
 public:
  explicit MachineFile(std::string_view file) : file_(file) {}

  Result<MachineSpec> parse(std::string_view text) {
    if (Status s = check_ascii(text, file_); !s) return s.error();
    const toml::parse_result parsed = toml::parse(text, std::string_view(file_));
    if (!parsed) {
      return at(parsed.error().source(), std::string(parsed.error().description()));
    }
    const toml::table& root = parsed.table();
    name_spec();
    if (Status s = check_keys(root, kTables, "table"); !s) return s.error();
    if (Status s = machine_table(root); !s) return s.error();
    if (Status s = guest_table(root); !s) return s.error();
    if (Status s = costs_table(root); !s) return s.error();
    return std::move(spec_);
  }

 private:
  [[nodiscard]] Error at(const toml::source_region& region, std::string message,
                         std::string_view token = {}, std::string hint = {}) const {
    return Error{.message = std::move(message),
                 .file = file_,
                 .line = region.begin.line,
                 .column = region.begin.column,
                 .token = std::string(token),
                 .hint = std::move(hint)};
  }

  void name_spec() {
    std::string_view name = file_;
    name.remove_prefix(name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1);
    if (name.ends_with(".toml")) name.remove_suffix(5);
    spec_.name = name;
  }

  // Reports the first unknown key of the file, not of the alphabet.
  Status check_keys(const toml::table& table, Names known, std::string_view what) {
    const toml::key* first = nullptr;
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      if (first == nullptr || key.source().begin < first->source().begin) first = &key;
    }
    if (first == nullptr) return Ok{};
    return at(first->source(), "unknown " + std::string(what), first->str(),
              did_you_mean(first->str(), known));
  }

  // The table `name` of the file; null when it is not there.
  Result<const toml::table*> sub_table(const toml::table& root, std::string_view name) {
    const toml::node* node = root.get(name);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) return at(node->source(), "expected a table", name);
    return node->as_table();
  }

  Status get_string(const toml::table& table, std::string_view key, std::string& out) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return Ok{};
    if (!node->is_string()) return at(node->source(), "expected a string", key);
    out = node->as_string()->get();
    return Ok{};
  }

  Result<int64_t> integer(const toml::node& node, std::string_view key) {
    if (!node.is_integer()) return at(node.source(), "expected an integer", key);
    return node.as_integer()->get();
  }

  Status machine_table(const toml::table& root) {
    const Result<const toml::table*> found = sub_table(root, "machine");
    if (!found) return found.error();
    if (*found == nullptr) {
      return at(root.source(), "no [machine] table", "",
                "a machine needs [machine] with topology = \"pack:1 l3:1 core:4 pu:1\"");
    }
    const toml::table& machine = **found;
    if (Status s = check_keys(machine, kMachineKeys, "key"); !s) return s;
    if (Status s = get_string(machine, "description", spec_.description); !s) return s;
    if (Status s = topology(machine); !s) return s;
    if (Status s = node_distance(machine); !s) return s;
    if (Status s = hz(machine); !s) return s;
    return idle(machine);
  }

  Status topology(const toml::table& machine) {
    const Result<CpuNumbering> numbering = numbering_of(machine);
    if (!numbering) return numbering.error();
    const toml::node* node = machine.get("topology");
    if (node == nullptr) {
      return at(machine.source(), "no topology", "", "add topology = \"pack:1 l3:1 core:4 pu:1\"");
    }
    std::string text;
    if (Status s = get_string(machine, "topology", text); !s) return s;
    Result<Topology> topology = Topology::from_synthetic(text, *numbering);
    if (!topology) {
      // Its columns count from the first character after the quote.
      Error e = std::move(topology.error());
      e.file = file_;
      e.line = node->source().begin.line;
      e.column += node->source().begin.column;
      return e;
    }
    spec_.topology = std::move(*topology);
    return Ok{};
  }

  Result<CpuNumbering> numbering_of(const toml::table& machine) {
    std::string text = "threads_last";
    if (Status s = get_string(machine, "numbering", text); !s) return s.error();
    std::vector<std::string_view> known;
    for (const auto& [name, value] : kNumberings) {
      if (name == text) return value;
      known.push_back(name);
    }
    return at(machine.get("numbering")->source(), "unknown numbering", text,
              did_you_mean(text, known));
  }

  Status node_distance(const toml::table& machine) {
    const toml::node* node = machine.get("node_distance");
    if (node == nullptr) return Ok{};
    if (!node->is_array()) return at(node->source(), "expected an array of rows", "node_distance");
    const size_t n = spec_.topology.nr_nodes();
    std::vector<uint32_t> matrix;
    for (const toml::node& row : *node->as_array()) {
      if (!row.is_array()) return at(row.source(), "expected a row of integers", "node_distance");
      if (row.as_array()->size() != n) {
        return at(row.source(), "a row needs " + std::to_string(n) + " values, one per NUMA node",
                  "node_distance");
      }
      for (const toml::node& cell : *row.as_array()) {
        const Result<int64_t> v = integer(cell, "node_distance");
        if (!v) return v.error();
        // Outside 0..255 it is wrong in any case; 0 keeps it wrong without overflow.
        matrix.push_back(*v >= 0 && *v <= 255 ? static_cast<uint32_t>(*v) : 0);
      }
    }
    if (Status s = spec_.topology.set_node_distances(matrix); !s) {
      return at(node->source(), s.error().message, "node_distance");
    }
    return Ok{};
  }

  Status hz(const toml::table& machine) {
    const toml::node* node = machine.get("hz");
    if (node == nullptr) return Ok{};
    const Result<int64_t> v = integer(*node, "hz");
    if (!v) return v.error();
    if (std::find(kHz.begin(), kHz.end(), *v) == kHz.end()) {
      return at(node->source(), "hz must be 100, 250, 300 or 1000", std::to_string(*v));
    }
    spec_.hz = static_cast<uint32_t>(*v);
    return Ok{};
  }

  Status idle(const toml::table& machine) {
    constexpr std::string_view kKnown[] = {"interrupt", "polls"};
    std::string text = "interrupt";
    if (Status s = get_string(machine, "idle", text); !s) return s;
    if (std::find(std::begin(kKnown), std::end(kKnown), text) == std::end(kKnown)) {
      return at(machine.get("idle")->source(), "unknown idle state", text,
                did_you_mean(text, kKnown));
    }
    spec_.idle_polls = text == "polls";
    return Ok{};
  }

  Status guest_table(const toml::table& root) {
    const Result<const toml::table*> found = sub_table(root, "guest");
    if (!found) return found.error();
    if (*found == nullptr) return Ok{};
    const toml::table& guest = **found;
    if (Status s = check_keys(guest, kGuestKeys, "key"); !s) return s;
    if (const toml::node* node = guest.get("gone_after_ns"); node != nullptr) {
      const Result<Duration> d = guest_time(*node, "gone_after_ns");
      if (!d) return d.error();
      spec_.guest.gone_after = *d;
    }
    if (const toml::node* node = guest.get("pack_below"); node != nullptr) {
      const Result<int64_t> v = integer(*node, "pack_below");
      if (!v) return v.error();
      if (*v < 0 || *v > 1024) {
        return at(node->source(), std::to_string(*v) + " lies outside 0..1024", "pack_below");
      }
      spec_.guest.pack_below = static_cast<uint32_t>(*v);
    }
    const toml::node* node = guest.get("late_exit_ns");
    if (node == nullptr) return Ok{};
    if (!node->is_array()) return at(node->source(), "expected an array of rows", "late_exit_ns");
    for (const toml::node& row : *node->as_array()) {
      const toml::array* cells = row.as_array();
      if (cells == nullptr || cells->size() != 3) {
        return at(row.source(), "expected [rest, exit, cold]", "late_exit_ns");
      }
      Duration value[3];
      for (size_t i = 0; i < 3; ++i) {
        const Result<Duration> v = guest_time((*cells)[i], "late_exit_ns");
        if (!v) return v.error();
        value[i] = *v;
      }
      if (!spec_.guest.late_exit.empty() && value[0] <= spec_.guest.late_exit.back().rest) {
        return at(row.source(), "rows must ascend", "late_exit_ns");
      }
      spec_.guest.late_exit.push_back({value[0], value[1], value[2]});
    }
    return Ok{};
  }

  Result<Duration> guest_time(const toml::node& node, std::string_view key) {
    const Result<int64_t> v = integer(node, key);
    if (!v) return v.error();
    if (*v < 0 || *v > 1'000'000'000) {
      return at(node.source(), std::to_string(*v) + " lies outside 0..1000000000", key);
    }
    return Duration::nanos(*v);
  }

  Status costs_table(const toml::table& root) {
    const Result<const toml::table*> found = sub_table(root, "costs");
    if (!found) return found.error();
    if (*found == nullptr) return Ok{};
    std::vector<std::string_view> known;
    for (const CostInfo& c : cost_table()) known.push_back(c.name);
    if (Status s = check_keys(**found, known, "cost"); !s) return s;
    for (const auto& [key, node] : **found) {
      const CostInfo& info = *find_cost(key.str());
      CostSource source;
      const Result<Duration> value = cost(info, node, source);
      if (!value) return value.error();
      spec_.costs.*info.field = *value;
      spec_.cost_sources.emplace(key.str(), std::move(source));
    }
    return Ok{};
  }

  // N or { ns = N, range = [low, high], source = "…" }.
  Result<Duration> cost(const CostInfo& info, const toml::node& node, CostSource& source) {
    source = CostSource{.text = "assumed", .low_ns = info.low_ns, .high_ns = info.high_ns};
    const toml::node* ns = &node;
    if (const toml::table* table = node.as_table()) {
      if (Status s = check_keys(*table, kCostKeys, "key"); !s) return s.error();
      if (Status s = get_string(*table, "source", source.text); !s) return s.error();
      if (Status s = range(info, *table, source); !s) return s.error();
      ns = table->get("ns");
      if (ns == nullptr) return at(node.source(), "no ns = VALUE", info.name);
    }
    const Result<int64_t> v = integer(*ns, info.name);
    if (!v) return v.error();
    if (*v < source.low_ns || *v > source.high_ns) {
      return at(ns->source(),
                std::to_string(*v) + " lies outside " + std::to_string(source.low_ns) + ".." +
                    std::to_string(source.high_ns),
                info.name);
    }
    return Duration::nanos(*v);
  }

  Status range(const CostInfo& info, const toml::table& table, CostSource& source) {
    const toml::node* node = table.get("range");
    if (node == nullptr) return Ok{};
    const toml::array* pair = node->as_array();
    if (pair == nullptr || pair->size() != 2) {
      return at(node->source(), "expected range = [low, high]", info.name);
    }
    const Result<int64_t> low = integer((*pair)[0], info.name);
    if (!low) return low.error();
    const Result<int64_t> high = integer((*pair)[1], info.name);
    if (!high) return high.error();
    if (*low > *high || *low < info.low_ns || *high > info.high_ns) {
      return at(node->source(),
                "a range must ascend and lie within " + std::to_string(info.low_ns) + ".." +
                    std::to_string(info.high_ns),
                info.name);
    }
    source.low_ns = *low;
    source.high_ns = *high;
    return Ok{};
  }

  std::string file_;
  MachineSpec spec_;
};

}  // namespace

Result<MachineSpec> parse_machine(std::string_view text, std::string_view file) {
  Result<MachineSpec> machine = MachineFile(file).parse(text);
  if (machine) {
    machine->definition = std::string(text);
    machine->from_file = true;
  }
  return machine;
}

}  // namespace runqlab::machine
