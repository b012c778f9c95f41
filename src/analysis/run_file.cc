#include "analysis/run_file.h"

#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "trace/import/byte_source.h"
#include "trace/program_blob.h"

namespace runqlab::analysis {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormatName = "runqlab-run-";
constexpr std::string_view kFormat = "runqlab-run-2";
// A file may claim any size. These bound what is read of it, what it unpacks to, and how deep its
// description is nested; the writer keeps to them.
constexpr size_t kMaxHead = size_t{4} << 20;
constexpr size_t kMaxPrograms = size_t{1} << 30;
constexpr int kMaxDepth = 8;
constexpr size_t kMaxArms = 64;
// Programs hold recorded times, which pack to a tenth; a thousandth is none of ours.
constexpr size_t kMaxRatio = 1'000;
constexpr size_t kSmall = size_t{1} << 20;

constexpr std::string_view kMakeOne =
    "make one with `runqlab replay … -o FILE`, or with run or compare";

Json machine_json(const machine::MachineSpec& m) {
  Json costs = Json::object();
  for (const machine::CostInfo& c : machine::cost_table()) {
    costs[std::string(c.name)] = (m.costs.*c.field).ns();
  }
  return {
      {"name", m.name}, {"definition", m.definition}, {"from_file", m.from_file}, {"costs", costs}};
}

std::string hex(uint64_t v) {
  char buffer[17];
  std::snprintf(buffer, sizeof buffer, "%016llx", static_cast<unsigned long long>(v));
  return buffer;
}

bool parse_hex(const std::string& text, uint64_t& v) {
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, v, 16);
  return code == std::errc() && rest == end && text.size() == 16;
}

std::string compress(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

Result<std::string> decompress(std::string_view bytes, const std::string& name) {
  const Error damaged{.message = "the stored programs are damaged",
                      .file = name,
                      .hint = "copy the file again, or make it again"};
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMaxPrograms ||
      size > kSmall + kMaxRatio * bytes.size()) {
    return damaged;
  }
  std::string out(size, '\0');
  const size_t n = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(n) != 0 || n != size) return damaged;
  return out;
}

// A member of an object, if it is there and of the type asked for.
bool get(const Json& j, const char* key, std::string& out) {
  const auto it = j.find(key);
  if (it == j.end() || !it->is_string()) return false;
  out = it->get<std::string>();
  return true;
}
bool get(const Json& j, const char* key, uint64_t& out) {
  const auto it = j.find(key);
  if (it == j.end() || !it->is_number_unsigned()) return false;
  out = it->get<uint64_t>();
  return true;
}

// The head's line and what follows it, neither of them longer than it may be.
class FileReader {
 public:
  FileReader(trace::ByteSource& source, std::string name)
      : source_(source), name_(std::move(name)) {}

  Result<RunFile> read() {
    if (Status s = fill_until([&] { return bytes_.find('\n') != bytes_.npos; }, kMaxHead); !s) {
      return s.error();
    }
    const size_t end = bytes_.find('\n');
    if (end == bytes_.npos || end > kMaxHead) return bad("no first line");
    const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth < kMaxDepth; };
    const Json head = Json::parse(bytes_.substr(0, end), shallow, false);
    bytes_.erase(0, end + 1);
    if (Status s = read_head(head); !s) return s.error();
    if (Status s = read_programs(head); !s) return s.error();
    return std::move(run_);
  }

 private:
  [[nodiscard]] Error bad(std::string what, std::string_view hint = kMakeOne) const {
    return Error{.message = "not a run file: " + std::move(what),
                 .file = name_,
                 .line = 1,
                 .hint = std::string(hint)};
  }

  // Reads on until `enough`, the end, or more than `most` bytes are there.
  template <class F>
  Status fill_until(F&& enough, size_t most) {
    std::array<char, size_t{64} * 1024> chunk;
    while (bytes_.size() <= most && !enough()) {
      const auto n = source_.read(chunk);
      if (!n) return n.error();
      if (*n == 0) break;
      bytes_.append(chunk.data(), *n);
    }
    return Ok{};
  }

  Status read_head(const Json& head) {
    std::string format;
    if (!head.is_object() || !get(head, "format", format) || !format.starts_with(kFormatName)) {
      return bad("the first line is not its description");
    }
    if (!get(head, "version", run_.version)) return bad("it does not say who wrote it");
    if (format != kFormat) {
      return bad("its layout is " + format + ", this version reads " + std::string(kFormat),
                 "it was written by runqlab " + run_.version + ": make it again");
    }
    if (!get(head, "workload", run_.workload)) return bad("it names no workload");
    const auto machines = head.find("machines");
    if (machines == head.end() || !machines->is_array()) return bad("it describes no machine");
    if (machines->size() > kMaxArms) return bad("it describes too many machines");
    std::vector<machine::MachineSpec> specs;
    for (const Json& m : *machines) {
      auto spec = read_machine(m);
      if (!spec) return spec.error();
      specs.push_back(std::move(*spec));
    }
    const auto arms = head.find("arms");
    if (arms == head.end() || !arms->is_array() || arms->empty()) return bad("it names no arm");
    if (arms->size() > kMaxArms) return bad("it names too many arms");
    for (const Json& a : *arms) {
      StoredArm arm;
      std::string hash;
      uint64_t machine = 0;
      if (!a.is_object() || !get(a, "arm", arm.arm) || !get(a, "seed", arm.seed) ||
          !get(a, "machine", machine) || machine >= specs.size() || !get(a, "state_hash", hash) ||
          !parse_hex(hash, arm.state_hash)) {
        return bad("an arm is not as it should be");
      }
      arm.machine = specs[machine];
      run_.arms.push_back(std::move(arm));
    }
    return Ok{};
  }

  [[nodiscard]] Result<machine::MachineSpec> read_machine(const Json& j) const {
    std::string machine_name, definition;
    const auto from_file = j.find("from_file");
    if (!j.is_object() || !get(j, "name", machine_name) || !get(j, "definition", definition) ||
        from_file == j.end() || !from_file->is_boolean()) {
      return bad("a machine is not as it should be");
    }
    auto m = from_file->get<bool>() ? machine::parse_machine(definition, machine_name + ".toml")
                                    : machine::synthetic_machine(definition);
    if (!m) return bad("a machine: " + m.error().to_string());
    const auto costs = j.find("costs");
    if (costs == j.end() || !costs->is_object()) return bad("a machine has no costs");
    for (const auto& [key, value] : costs->items()) {
      const machine::CostInfo* info = machine::find_cost(key);
      if (info == nullptr || !value.is_number_integer() || value.get<int64_t>() < info->low_ns ||
          value.get<int64_t>() > info->high_ns) {
        return Error{.message = "the run file names a cost that this version does not have",
                     .file = name_,
                     .line = 1,
                     .token = key,
                     .hint = "it was written by runqlab " + run_.version + ": make it again"};
      }
      (*m).costs.*info->field = Duration::nanos(value.get<int64_t>());
    }
    return m;
  }

  Status read_programs(const Json& head) {
    uint64_t size = 0;
    if (!get(head, "programs_bytes", size) || size > kMaxPrograms) {
      return bad("it says no possible size of its programs");
    }
    if (Status s = fill_until([&] { return bytes_.size() > size; }, size); !s) return s;
    if (bytes_.size() != size) {
      return bad(bytes_.size() < size ? "it is cut off" : "something follows its end",
                 "copy the file again, or make it again");
    }
    if (size == 0) return Ok{};
    auto programs = decompress(bytes_, name_);
    if (!programs) return programs.error();
    auto replay = trace::from_blob(*programs, run_.workload);
    if (!replay) {
      replay.error().file = name_;
      return replay.error();
    }
    run_.replay = std::move(*replay);
    return Ok{};
  }

  trace::ByteSource& source_;
  std::string name_;
  std::string bytes_;  // read and not yet understood
  RunFile run_;
};

}  // namespace

Status write_run_file(const std::string& path, const RunFile& run) {
  // Arms on one machine share its description.
  Json arms = Json::array(), machines = Json::array();
  for (const StoredArm& a : run.arms) {
    const Json spec = machine_json(a.machine);
    const auto at = std::find(machines.begin(), machines.end(), spec);
    arms.push_back({{"arm", a.arm},
                    {"machine", at - machines.begin()},
                    {"seed", a.seed},
                    {"state_hash", hex(a.state_hash)}});
    if (at == machines.end()) machines.push_back(spec);
  }
  std::string programs;
  if (run.replay) {
    const std::string blob = trace::to_blob(*run.replay);
    programs = compress(blob);
    if (blob.size() > std::min(kMaxPrograms, kSmall + kMaxRatio * programs.size())) {
      return Error{.message = "the replay is too big for a run file",
                   .file = path,
                   .hint = "take a window of the recording: --time START,STOP"};
    }
  }
  const Json description = {{"format", kFormat},        {"version", run.version},
                            {"machines", machines},     {"arms", arms},
                            {"workload", run.workload}, {"programs_bytes", programs.size()}};
  const std::string head = description.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (head.size() > kMaxHead || run.arms.size() > kMaxArms) {
    return Error{.message = "the arms and their machines are too much for a run file",
                 .file = path,
                 .hint = "take fewer arms"};
  }
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << head << '\n' << programs;
  out.flush();
  if (!out) {
    return Error{.message = std::string("cannot write: ") + std::strerror(errno),
                 .file = path,
                 .hint = "choose another -o"};
  }
  return Ok{};
}

Result<RunFile> read_run_file(const std::string& path) {
  auto source = trace::open_file(path);
  if (!source) return source.error();
  return FileReader(**source, path).read();
}

Result<RunFile> parse_run_file(std::string_view bytes, const std::string& name) {
  const auto source = trace::open_memory(bytes);
  return FileReader(*source, name).read();
}

}  // namespace runqlab::analysis
