// base/check.h — our own bugs. User input never ends here: it becomes an Error (base/result.h).
// RQL_CHECK is always on; RQL_AUDIT guards expensive or hot invariants and is on in tests
// (RUNQLAB_AUDIT). Both print what failed and the context hook's text, then abort.
#pragma once

namespace runqlab {

// Called once before the abort, to print the last records of the run that failed. `arg` is what
// was registered. One hook per thread; nullptr removes it.
using CheckContextHook = void (*)(void* arg);
void set_check_context(CheckContextHook hook, void* arg);

[[noreturn]] void check_failed(const char* expr, const char* file, int line);

}  // namespace runqlab

#define RQL_CHECK(cond) \
  (__builtin_expect(!!(cond), 1) ? void(0) : ::runqlab::check_failed(#cond, __FILE__, __LINE__))

#ifdef RUNQLAB_AUDIT
#define RQL_AUDIT(cond) RQL_CHECK(cond)
#else
#define RQL_AUDIT(cond) void(0)
#endif
