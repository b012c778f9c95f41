#include "cli/options.h"

#include <fmt/core.h>

#include <filesystem>
#include <set>
#include <thread>

#include "base/numbers.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "cli/output.h"

namespace runqlab::cli {
namespace {

// The parser's own conversion takes -1 and numbers of any size.
const CLI::Validator& whole_number() {
  static const CLI::Validator kValidator(
      [](const std::string& text) {
        return parse_u64(text) ? "" : text + " is no number from 0 to 18446744073709551615";
      },
      "");
  return kValidator;
}

}  // namespace

void add_common(CLI::App& app, CommonOptions& o) {
  app.add_option("--machine", o.machine,
                 "preset, machine TOML file, or hwloc synthetic string (list machines)");
  app.add_option("--kernel", o.kernel,
                 "arm that the others change: KERNEL,FEATURE,NO_FEATURE,tunable=value,… (list "
                 "kernels, list features)");
  app.add_option("--cost", o.costs, "NAME=VALUE: one cost of --machine (list costs)");
  app.add_option("--seed", o.seed, "seed of the random streams")
      ->check(whole_number())
      ->capture_default_str();
  app.add_flag("--json", o.json, "print JSON instead of text");
  app.add_flag("--strict", o.strict, "fail where the input is repaired, skipped or only near");
  app.add_option("-o,--output", o.output, "write a run file");
}

void add_jobs(CLI::App& app, CommonOptions& o) {
  app.add_option("-j,--jobs", o.jobs, "arms and seeds to run at once; default: one per CPU")
      ->check(CLI::Range(1U, 1'000U));
}

void add_arms(CLI::App& app, ArmOptions& o, bool b_required) {
  app.add_option("--a", o.a, "arm A, on top of --kernel; machine=NAME runs it on another machine");
  auto* b = app.add_option("--b", o.b, "arm B, on top of A; may be given several times");
  if (b_required) b->required();
  app.add_option("--fail-if", o.fail_if,
                 "METRIC>±N% or METRIC<±N%: exit 1 when B against A is so (cpu, switches, "
                 "migrations, p50, p99, max, finish of the whole run)");
}

void add_table(CLI::App& app, TableOptions& o) {
  app.add_option("--by", o.by, "rows by comm or by task")
      ->check(CLI::IsMember({"comm", "task"}))
      ->capture_default_str();
  app.add_option("--comm", o.comms, "only rows of this comm; all tasks are simulated");
}

Status check_comms(std::string_view option, const std::vector<std::string>& comms,
                   const Workload& w) {
  if (comms.empty()) return Ok{};
  std::set<std::string_view> names;
  for (const TaskSpec& t : w.tasks) names.insert(t.name);
  for (const std::string& comm : comms) {
    if (names.contains(comm)) continue;
    const std::vector<std::string_view> known(names.begin(), names.end());
    return Error{.message = std::string(option) + ": no task has this name",
                 .token = comm,
                 .hint = did_you_mean(comm, known)};
  }
  return Ok{};
}

int fail(const Error& error) {
  print_error("runqlab: {}\n", printable(error.to_string()));
  return kBadInput;
}

Status check_output(const CommonOptions& o, const std::string& input) {
  std::error_code ignored;
  if (o.output.empty() || !std::filesystem::equivalent(o.output, input, ignored)) return Ok{};
  return Error{.message = "-o is the input itself", .file = o.output, .hint = "choose another -o"};
}

Result<machine::MachineSpec> machine_of(const CommonOptions& o, const std::string& name) {
  auto m = machine::load_machine(name);
  if (!m) return m;
  for (const std::string& cost : o.costs) {
    if (Status s = machine::set_cost(*m, cost); !s) return s.error();
  }
  return m;
}

unsigned jobs_of(const CommonOptions& o) {
  return o.jobs != 0 ? o.jobs : std::max(1U, std::thread::hardware_concurrency());
}

std::string warnings(const Diagnostics& diagnostics) {
  std::string s;
  for (const auto& [kind, k] : diagnostics.kinds()) {
    s += fmt::format("  warning     {} {}", k.count, kind);
    if (!k.first.empty()) s += fmt::format(", first: {}", k.first.front().to_string());
    s += '\n';
  }
  return s;
}

bool FailIf::holds(int64_t a, int64_t b) const {
  // (b - a) / a against permille / 1000, in integers.
  const auto change = static_cast<__int128>(b - a) * 1000;
  const auto limit = static_cast<__int128>(a) * permille;
  return above ? change > limit : change < limit;
}

Result<FailIf> parse_fail_if(const std::string& text) {
  const Error wrong{
      .message = "--fail-if takes METRIC>±N% or METRIC<±N%",
      .token = text,
      .hint = "for example 'p99>+5%' (cpu, switches, migrations, p50, p99, max, finish)"};
  const size_t at = text.find_first_of("<>");
  if (at == std::string::npos || !text.ends_with('%')) return wrong;
  FailIf f;
  f.metric = report::find_metric(std::string_view(text).substr(0, at));
  f.above = text[at] == '>';
  std::string_view number = std::string_view(text).substr(at + 1, text.size() - at - 2);
  const bool minus = number.starts_with('-');
  if (minus || number.starts_with('+')) number.remove_prefix(1);
  // Up to one decimal: "2.5" is 25 permille.
  const size_t dot = number.find('.');
  const auto whole = parse_u64(number.substr(0, dot));
  const auto tenth = dot == std::string_view::npos ? std::optional<uint64_t>(0)
                                                   : parse_u64(number.substr(dot + 1));
  if (f.metric == nullptr || !whole || !tenth || *tenth > 9 || *whole > 100'000) return wrong;
  f.permille = static_cast<int64_t>(*whole * 10 + *tenth) * (minus ? -1 : 1);
  return f;
}

Result<std::vector<FailIf>> parse_fail_ifs(const std::vector<std::string>& texts) {
  std::vector<FailIf> out;
  for (const std::string& text : texts) {
    auto f = parse_fail_if(text);
    if (!f) return f.error();
    out.push_back(*f);
  }
  return out;
}

int check_conditions(const std::vector<FailIf>& conditions, const report::Row& whole,
                     const report::ComparisonColumns& columns) {
  for (const FailIf& f : conditions) {
    const int64_t a = f.metric->value(whole.columns[static_cast<size_t>(columns.a)]);
    for (const int i : columns.b) {
      const int64_t b = f.metric->value(whole.columns[static_cast<size_t>(i)]);
      if (!f.holds(a, b)) continue;
      print_error("runqlab: --fail-if holds: {} {} → {}\n", f.metric->label,
                  report::print_value(*f.metric, a), report::print_value(*f.metric, b));
      return kFailed;
    }
  }
  return kOk;
}

}  // namespace runqlab::cli
