// trace/kernel_threads.h — what the names of kernel threads say.
#pragma once

#include <string_view>

namespace runqlab::trace {

// "ksoftirqd/3", "kworker/3:1H", "migration/0": the CPU of a per-CPU kernel thread; -1 for others,
// unbound workers ("kworker/u8:0") among them.
int percpu_thread_cpu(std::string_view comm);

// The thread of the stop class. `prio` as in a trace.
bool is_stopper(std::string_view comm, int prio);

}  // namespace runqlab::trace
