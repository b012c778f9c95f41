#include "trace/kernel_threads.h"

#include <algorithm>

#include "base/numbers.h"

namespace runqlab::trace {

int percpu_thread_cpu(std::string_view comm) {
  for (const std::string_view prefix :
       {"ksoftirqd/", "migration/", "kworker/", "cpuhp/", "ktimers/", "rcuc/", "idle_inject/",
        "irq_work/", "backlog_napi/", "watchdog/", "stopper/"}) {
    if (!comm.starts_with(prefix)) continue;
    const std::string_view rest = comm.substr(prefix.size());
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const auto cpu = parse_u64(rest.substr(0, digits));
    return cpu && *cpu < kMaxCpus ? static_cast<int>(*cpu) : -1;
  }
  return -1;
}

bool is_stopper(std::string_view comm, int prio) {
  return prio == 0 && (comm.starts_with("migration/") || comm.starts_with("stopper/"));
}

}  // namespace runqlab::trace
