#include "base/check.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace runqlab {
namespace {
thread_local CheckContextHook context_hook = nullptr;
thread_local void* context_arg = nullptr;
}  // namespace

void set_check_context(CheckContextHook hook, void* arg) {
  context_hook = hook;
  context_arg = arg;
}

void check_failed(const char* expr, const char* file, int line) {
  std::fprintf(stderr, "runqlab: internal error: %s does not hold (%s:%d)\n", expr, file, line);
  if (CheckContextHook hook = std::exchange(context_hook, nullptr)) hook(context_arg);
  std::fprintf(stderr, "runqlab: this is a bug in runqlab, please report the command line\n");
  std::abort();
}

}  // namespace runqlab
