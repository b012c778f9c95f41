// runqlab check FILE… — cases with expectations, PASS or FAIL each.
#include "analysis/pick_scenario.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"

namespace runqlab::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string expect;
};

class Tally {
 public:
  void pass(const std::string& id) {
    ++passed_;
    print_text("PASS {}\n", id);
  }
  void fail(const std::string& id, const std::string& why) {
    ++failed_;
    print_text("FAIL {}: {}\n", id, why);
  }
  int done() const {
    print_text("{} passed, {} failed\n", passed_, failed_);
    return failed_ == 0 ? kOk : kFailed;
  }

 private:
  size_t passed_ = 0, failed_ = 0;
};

// The first decision that differs.
std::string difference(const std::vector<std::string>& want, const std::vector<std::string>& got) {
  const auto at = [](const std::vector<std::string>& v, size_t i) {
    return i < v.size() ? "\"" + v[i] + "\"" : "nothing more";
  };
  size_t i = 0;
  while (i < want.size() && i < got.size() && want[i] == got[i]) ++i;
  return "expected " + at(want, i) + ", got " + at(got, i) + " at decision " + std::to_string(i);
}

Status check_picks(const std::string& file, const analysis::PickExpectations& expected,
                   Tally& tally) {
  const auto scenarios = analysis::load_pick_scenarios(file);
  if (!scenarios) return scenarios.error();
  size_t compared = 0;
  for (const analysis::PickScenario& s : *scenarios) {
    for (const std::string& version : s.versions) {
      const auto kernel = sched::kernel_of(version);
      if (!kernel) return kernel.error();
      const auto cpus = static_cast<int64_t>(s.online_cpus);
      auto want = expected.find({s.id, s.hz, cpus, version});
      if (want == expected.end() && !kernel->features.eevdf) {
        want = expected.find({s.id, s.hz, cpus, ""});
      }
      if (want == expected.end()) continue;  // the other policy's file has it
      ++compared;
      const std::string id = s.id + " hz=" + std::to_string(s.hz) + " " + version;
      const auto got = analysis::pick_decisions(s, *kernel, want->second.size() + 1);
      if (got == want->second) {
        tally.pass(id);
      } else {
        tally.fail(id, difference(want->second, got));
      }
    }
  }
  if (compared == 0) {
    return Error{.message = "none of its scenarios has expected decisions in --expect",
                 .file = file};
  }
  return Ok{};
}

int check(const Options& o) {
  const auto expected = analysis::load_pick_expectations(o.expect);
  if (!expected) return fail(expected.error());
  Tally tally;
  for (const std::string& file : o.files) {
    if (Status s = check_picks(file, *expected, tally); !s) return fail(s.error());
  }
  return tally.done();
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("check", "cases with expectations: PASS or FAIL each");
  auto o = std::make_shared<Options>();
  command->add_option("FILE", o->files, "pick scenarios (JSON, pick-scenarios/1)")->required();
  command->add_option("--expect", o->expect, "the expected decisions (CSV)")->required();
  command->callback([o, &exit_code] { exit_code = check(*o); });
}

}  // namespace runqlab::cli
