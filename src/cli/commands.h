// cli/commands.h — the commands; each adds itself to the application and sets the exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace runqlab::cli {

void add_replay(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_validate(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);

}  // namespace runqlab::cli
