// cli/run_cli.h — the program without its process: what main() calls, and the tests.
#pragma once

namespace runqlab::cli {

// Reads the command line, does what it says, prints; the exit code (cli/options.h). Never throws.
int run_cli(int argc, const char* const* argv);

}  // namespace runqlab::cli
