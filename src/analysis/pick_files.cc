// Reading pick scenarios and expected decisions: both come from outside.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "analysis/pick_scenario.h"
#include "base/numbers.h"
#include "trace/import/byte_source.h"
#include "trace/import/decompress.h"
#include "trace/import/line_reader.h"

namespace runqlab::analysis {
namespace {

using nlohmann::json;

constexpr size_t kMaxBytes = size_t{16} << 20;
constexpr size_t kMaxTasks = 1000;
constexpr int64_t kMaxTime = 100'000'000'000;  // 100 s
constexpr int64_t kMaxVruntime = int64_t{1} << 50;

Result<std::string> read_file(const std::string& path) {
  auto file = trace::open_file(path);
  if (!file) return file.error();
  auto source = trace::decompressed(std::move(*file), path);
  if (!source) return source.error();
  std::string text;
  std::array<char, 65536> chunk{};
  for (;;) {
    const auto n = (*source)->read(chunk);
    if (!n) return n.error();
    if (*n == 0) return text;
    text.append(chunk.data(), *n);
    if (text.size() > kMaxBytes) return Error{.message = "longer than 16 MiB", .file = path};
  }
}

// Reads one scenario; the first thing that is wrong wins.
class ScenarioReader {
 public:
  explicit ScenarioReader(const json& j) : j_(j) {}

  std::optional<PickScenario> read() {
    PickScenario s;
    s.id = text(j_, "id", "");
    s.hz = number(j_, "hz", 250, 1, 10'000);
    s.online_cpus = static_cast<size_t>(number(j_, "online_cpus", 8, 1, 8192));
    s.until_ns = number(j_, "until", -1, 0, kMaxTime);
    if (s.id.empty()) bad("a scenario needs an id");
    const json& tasks = list(j_, "tasks");
    if (tasks.empty() || tasks.size() > kMaxTasks) bad("tasks: 1 to 1000 of them");
    for (const json& t : tasks) s.tasks.push_back(task(t));
    for (const json& v : list(j_, "versions")) {
      if (!v.is_string()) bad("versions are kernel names");
      s.versions.push_back(v.is_string() ? v.get<std::string>() : "");
    }
    if (!wrong_.empty()) return std::nullopt;
    return s;
  }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  PickTask task(const json& j) {
    PickTask t;
    if (!j.is_object()) {
      bad("a task is an object");
      return t;
    }
    for (const auto& [key, value] : j.items()) {
      constexpr std::string_view kKnown[] = {"name",  "nice",  "policy", "v0",
                                             "start", "slice", "pattern"};
      if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown)) {
        bad("unknown key of a task: " + key);
      }
    }
    t.name = text(j, "name", "");
    if (t.name.empty()) bad("a task needs a name");
    t.nice = static_cast<int>(number(j, "nice", 0, -20, 19));
    t.vruntime = number(j, "v0", 0, -kMaxVruntime, kMaxVruntime);
    if (j.contains("start")) t.start_ns = number(j, "start", 0, 0, kMaxTime);
    if (j.contains("slice")) t.slice_ns = number(j, "slice", 0, 100'000, 100'000'000);
    const std::string policy = text(j, "policy", "normal");
    if (policy == "batch") {
      t.policy = Policy::batch;
    } else if (policy == "idle") {
      t.policy = Policy::idle;
    } else if (policy != "normal") {
      bad("policy is normal, batch or idle, not " + policy);
    }
    for (const json& step : list(j, "pattern")) {
      const bool pair = step.is_array() && step.size() == 2 && step[0].is_number_integer() &&
                        step[1].is_number_integer();
      const int64_t run = pair ? step[0].get<int64_t>() : 0;
      const int64_t sleep = pair ? step[1].get<int64_t>() : 0;
      if (run < 1 || sleep < 1 || run > kMaxTime || sleep > kMaxTime) {
        bad("a step of a pattern is [run, sleep], both from 1 ns to 100 s");
      }
      t.pattern.push_back({run, sleep});
    }
    return t;
  }

  std::string text(const json& j, const char* key, const char* by_default) {
    if (!j.contains(key)) return by_default;
    if (j[key].is_string()) return j[key].get<std::string>();
    bad(std::string(key) + " is a string");
    return by_default;
  }
  int64_t number(const json& j, const char* key, int64_t by_default, int64_t low, int64_t high) {
    int64_t v = by_default;
    if (j.contains(key)) {
      if (!j[key].is_number_integer()) {
        bad(std::string(key) + " is an integer");
        return low;
      }
      v = j[key].is_number_unsigned() && j[key].get<uint64_t>() > INT64_MAX ? INT64_MAX
                                                                            : j[key].get<int64_t>();
    }
    if (v < low || v > high) {
      bad(std::string(key) + " takes " + std::to_string(low) + ".." + std::to_string(high));
      return low;
    }
    return v;
  }
  const json& list(const json& j, const char* key) {
    static const json kEmpty = json::array();
    if (!j.contains(key)) return kEmpty;
    if (j[key].is_array()) return j[key];
    bad(std::string(key) + " is a list");
    return kEmpty;
  }
  void bad(std::string why) {
    if (wrong_.empty()) wrong_ = std::move(why);
  }

  const json& j_;
  std::string wrong_;
};

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

}  // namespace

Result<std::vector<PickScenario>> parse_pick_scenarios(std::string_view text,
                                                       const std::string& file) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) return Error{.message = "not JSON", .file = file};
  if (!document.is_object() || !document.contains("schema") ||
      document["schema"] != "pick-scenarios/1") {
    return Error{.message = "not a file of pick scenarios",
                 .file = file,
                 .hint = "its \"schema\" must be \"pick-scenarios/1\""};
  }
  if (!document.contains("scenarios") || !document["scenarios"].is_array()) {
    return Error{.message = "no list of scenarios", .file = file};
  }
  std::vector<PickScenario> all;
  for (const json& j : document["scenarios"]) {
    const std::string place = "scenario " + std::to_string(all.size() + 1);
    if (!j.is_object()) return Error{.message = place + " is not an object", .file = file};
    ScenarioReader reader(j);
    auto scenario = reader.read();
    if (!scenario) return Error{.message = place + ": " + reader.wrong(), .file = file};
    all.push_back(std::move(*scenario));
  }
  return all;
}

Result<std::vector<PickScenario>> load_pick_scenarios(const std::string& path) {
  auto text = read_file(path);
  if (!text) return text.error();
  return parse_pick_scenarios(*text, path);
}

Result<PickExpectations> load_pick_expectations(const std::string& path) {
  auto text = read_file(path);
  if (!text) return text.error();
  const auto source = trace::open_memory(*text);
  trace::LineReader lines(*source);
  const auto wrong = [&](std::string why) {
    return Error{.message = std::move(why), .file = path, .line = lines.number()};
  };
  constexpr std::string_view kKeys[] = {"scenario", "hz", "online_cpus", "version"};
  constexpr std::string_view kDecision[] = {"time_ns",  "task",     "why",
                                            "vruntime", "deadline", "slice_or_note"};
  PickExpectations all;
  std::vector<std::string> header;
  std::string_view line;
  while (lines.next(line) == trace::LineReader::Next::line) {
    if (line.empty()) continue;
    std::vector<std::string> cells = cells_of(line);
    if (header.empty()) {
      header = std::move(cells);
      for (const std::string_view name : {kKeys[0], kKeys[1], kKeys[2], kDecision[0]}) {
        if (std::find(header.begin(), header.end(), name) == header.end()) {
          return wrong("no column " + std::string(name) + ": not a file of pick decisions");
        }
      }
      continue;
    }
    if (cells.size() != header.size()) return wrong("another number of cells than the header");
    const auto cell = [&](std::string_view name) -> const std::string* {
      const auto it = std::find(header.begin(), header.end(), name);
      return it == header.end() ? nullptr : &cells[static_cast<size_t>(it - header.begin())];
    };
    const auto hz = parse_i64(*cell("hz")), cpus = parse_i64(*cell("online_cpus"));
    if (!hz || !cpus) return wrong("hz and online_cpus are integers");
    std::string decision;
    for (const std::string_view name : kDecision) {
      const std::string* c = cell(name);
      if (c != nullptr) decision += (decision.empty() ? "" : ",") + *c;
    }
    const std::string* version = cell("version");
    all[{*cell("scenario"), *hz, *cpus, version == nullptr ? "" : *version}].push_back(
        std::move(decision));
  }
  if (lines.failed()) return lines.error();
  if (all.empty()) return Error{.message = "no expected decisions", .file = path};
  return all;
}

}  // namespace runqlab::analysis
