// runqlab — a what-if laboratory for the Linux CPU scheduler.
#include <cstdio>
#include <exception>

#include "cli/commands.h"
#include "cli/options.h"

int main(int argc, char** argv) {
  using namespace runqlab::cli;
  CLI::App app("runqlab: what would the Linux scheduler do with another kernel, switch or machine?",
               "runqlab");
  app.set_version_flag("--version", "runqlab " RUNQLAB_VERSION);
  app.require_subcommand(1);
  int exit_code = kOk;
  add_replay(app, exit_code);
  add_run(app, exit_code);
  add_compare(app, exit_code);
  add_explain(app, exit_code);
  add_list(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kOk : kUsage;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "runqlab: internal error: %s\n", e.what());
    return kInternal;
  }
  return exit_code;
}
