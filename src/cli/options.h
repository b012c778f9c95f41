// cli/options.h — options that several commands share, and how errors and warnings reach the user.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "machine/machine_spec.h"
#include "report/comparison.h"
#include "report/metric.h"
#include "report/rows.h"

namespace runqlab::cli {

// Exit codes (DESIGN.md, "What the user types").
enum ExitCode : int { kOk = 0, kFailed = 1, kUsage = 2, kBadInput = 3, kInternal = 4 };

// Where built-in workloads run when nobody says otherwise.
constexpr const char* kDefaultMachine = "vm-2";

struct CommonOptions {
  std::string machine;
  std::string kernel;
  std::vector<std::string> costs;
  uint64_t seed = 1;
  unsigned jobs = 0;  // 0: as many as there are CPUs
  bool json = false;
  bool strict = false;
  std::string output;
};
void add_common(CLI::App& app, CommonOptions& options);
// -j, for commands that run several simulations.
void add_jobs(CLI::App& app, CommonOptions& options);

struct ArmOptions {
  std::string a;
  std::vector<std::string> b;
  std::vector<std::string> fail_if;
};
void add_arms(CLI::App& app, ArmOptions& options, bool b_required);

struct TableOptions {
  std::string by = "comm";
  std::vector<std::string> comms;

  [[nodiscard]] report::RowOptions rows() const {
    return {.by = by == "task" ? report::GroupBy::task : report::GroupBy::comm, .comms = comms};
  }
};
void add_table(CLI::App& app, TableOptions& options);
// Every name in `comms`, which `option` gave, is one of the workload's tasks.
Status check_comms(std::string_view option, const std::vector<std::string>& comms,
                   const Workload& workload);

// Prints the error on stderr; the exit code for bad input.
int fail(const Error& error);

// Whether -o may be written: not over the input.
Status check_output(const CommonOptions& options, const std::string& input);

// The machine with the costs of --cost set.
Result<machine::MachineSpec> machine_of(const CommonOptions& options, const std::string& name);
unsigned jobs_of(const CommonOptions& options);

// Warnings of an import in words, one line per kind with the first place; empty when there are
// none.
std::string warnings(const Diagnostics& diagnostics);

// "p99>+5%": fails when B's metric of the whole run differs from A's by more than that.
struct FailIf {
  const report::Metric* metric = nullptr;
  bool above = true;
  int64_t permille = 0;  // of A

  [[nodiscard]] bool holds(int64_t a, int64_t b) const;
};
Result<FailIf> parse_fail_if(const std::string& text);
Result<std::vector<FailIf>> parse_fail_ifs(const std::vector<std::string>& texts);
// kFailed, with a line on stderr, when a condition holds for the whole run; else kOk.
int check_conditions(const std::vector<FailIf>& conditions, const report::Row& whole_run,
                     const report::ComparisonColumns& columns);

}  // namespace runqlab::cli
