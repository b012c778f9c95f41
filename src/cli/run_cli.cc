#include "cli/run_cli.h"

#include <exception>
#include <new>
#include <string_view>
#include <vector>

#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"

namespace runqlab::cli {
namespace {

// The parser would only say that a command is missing.
bool knows_command(const CLI::App& app, std::string_view word) {
  std::vector<std::string> commands;
  for (const CLI::App* c : app.get_subcommands({})) commands.push_back(c->get_name());
  const std::vector<std::string_view> names(commands.begin(), commands.end());
  for (const std::string_view name : names) {
    if (name == word) return true;
  }
  print_error("runqlab: {}\n", Error{.message = "unknown command",
                                     .token = std::string(word),
                                     .hint = did_you_mean(word, names)}
                                   .to_string());
  return false;
}

int parse_and_run(CLI::App& app, int argc, const char* const* argv, const int& exit_code) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kOk : kUsage;
  } catch (const std::bad_alloc&) {
    print_error("runqlab: out of memory; try fewer tasks, CPUs or runs, or a shorter --time\n");
    return kInternal;
  } catch (const std::exception& e) {
    print_error("runqlab: internal error: {}\n", e.what());
    return kInternal;
  }
  return exit_code;
}

}  // namespace

int run_cli(int argc, const char* const* argv) {
  CLI::App app("runqlab: what would the Linux scheduler do with another kernel, switch or machine?",
               "runqlab");
  app.set_version_flag("--version", "runqlab " RUNQLAB_VERSION);
  app.require_subcommand(1);
  int exit_code = kOk;
  add_replay(app, exit_code);
  add_run(app, exit_code);
  add_compare(app, exit_code);
  add_explain(app, exit_code);
  add_check(app, exit_code);
  add_validate(app, exit_code);
  add_list(app, exit_code);
  if (argc > 1 && argv[1][0] != '-' && !knows_command(app, argv[1])) return kUsage;
  const int code = parse_and_run(app, argc, argv, exit_code);
  return output_complete() || code != kOk ? code : kBadInput;
}

}  // namespace runqlab::cli
