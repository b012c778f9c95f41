// runqlab — a what-if laboratory for the Linux CPU scheduler.
#include "cli/run_cli.h"

int main(int argc, char** argv) { return runqlab::cli::run_cli(argc, argv); }
