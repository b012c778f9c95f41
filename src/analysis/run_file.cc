#include "analysis/run_file.h"

#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "trace/program_blob.h"

namespace runqlab::analysis {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormat = "runqlab-run-1";
constexpr size_t kMaxJson = size_t{16} << 20;
constexpr size_t kMaxPrograms = size_t{4} << 30;

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

std::string compress(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

Result<std::string> decompress(std::string_view bytes, const std::string& name) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  // A frame cannot hold more than it could have been compressed from.
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMaxPrograms ||
      size / 100'000 > bytes.size()) {
    return Error{.message = "the stored programs are damaged", .file = name};
  }
  std::string out(size, '\0');
  const size_t n = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(n) != 0 || n != size) {
    return Error{.message = "the stored programs are damaged", .file = name};
  }
  return out;
}

Result<machine::MachineSpec> read_machine(const Json& j, const std::string& name) {
  const std::string definition = j.value("definition", "");
  auto m = j.value("from_file", false)
               ? machine::parse_machine(definition, j.value("name", "machine") + ".toml")
               : machine::load_machine(definition);
  if (!m) return m;
  const Json costs = j.value("costs", Json::object());
  for (const auto& [cost, value] : costs.items()) {
    const machine::CostInfo* info = machine::find_cost(cost);
    if (info == nullptr || !value.is_number_integer() || value.get<int64_t>() < info->low_ns ||
        value.get<int64_t>() > info->high_ns) {
      return Error{.message = "the run file names a cost that this version does not have",
                   .file = name,
                   .token = cost};
    }
    (*m).costs.*info->field = Duration::nanos(value.get<int64_t>());
  }
  return m;
}

}  // namespace

Status write_run_file(const std::string& path, const RunFile& run) {
  Json arms = Json::array();
  for (const StoredArm& a : run.arms) {
    arms.push_back({{"arm", a.arm}, {"seed", a.seed}, {"state_hash", hex(a.state_hash)}});
  }
  std::string programs;
  if (run.replay) programs = compress(trace::to_blob(*run.replay));
  const Json head = {
      {"format", kFormat},        {"version", run.version}, {"machine", machine_json(run.machine)},
      {"workload", run.workload}, {"arms", arms},           {"programs_bytes", programs.size()}};
  std::ofstream out(path, std::ios::binary);
  out << head.dump() << '\n' << programs;
  out.flush();
  if (!out)
    return Error{.message = std::strerror(errno), .file = path, .hint = "choose another -o"};
  return Ok{};
}

Result<RunFile> read_run_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{.message = std::strerror(errno), .file = path};
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return parse_run_file(bytes, path);
}

Result<RunFile> parse_run_file(std::string_view bytes, const std::string& name) {
  const auto bad = [&](std::string what) {
    return Error{.message = "not a run file: " + std::move(what),
                 .file = name,
                 .line = 1,
                 .hint = "make one with `runqlab replay … -o FILE` or `runqlab run … -o FILE`"};
  };
  const size_t end = bytes.substr(0, kMaxJson).find('\n');
  if (end == std::string_view::npos) return bad("no first line");
  const Json head = Json::parse(bytes.substr(0, end), nullptr, false);
  if (!head.is_object() || head.value("format", Json()) != kFormat) {
    return bad("the first line is not its description");
  }
  // The library throws where a member has another type than asked for.
  try {
    RunFile run;
    run.version = head.value("version", "");
    run.workload = head.value("workload", "");
    auto machine = read_machine(head.value("machine", Json::object()), name);
    if (!machine) return machine.error();
    run.machine = std::move(*machine);
    for (const Json& a : head.value("arms", Json::array())) {
      run.arms.push_back({a.value("arm", ""), a.value("seed", uint64_t{1}),
                          std::stoull(a.value("state_hash", "0"), nullptr, 16)});
    }
    if (run.arms.empty()) return bad("it names no arm");
    const std::string_view rest = bytes.substr(end + 1);
    if (rest.size() != head.value("programs_bytes", uint64_t{0})) return bad("it is cut off");
    if (!rest.empty()) {
      auto programs = decompress(rest, name);
      if (!programs) return programs.error();
      auto replay = trace::from_blob(*programs, run.workload);
      if (!replay) return replay.error();
      run.replay = std::move(*replay);
    }
    return run;
  } catch (const std::exception& e) {
    return bad(e.what());
  }
}

}  // namespace runqlab::analysis
