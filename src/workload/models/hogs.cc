// hogs: tasks that never sleep, for a fixed time of the clock.
#include "workload/models/models.h"

namespace runqlab::workload {
namespace {

using namespace literals;

constexpr ParamInfo kParams[] = {
    {"nice", "0/0", "nice value of each hog, separated by '/': as many hogs as values"},
    {"cpu", "-1", "the one CPU that all may use; -1: any"},
    {"duration", "1s", "how long they run"},
};

Program launcher(Arena&, uint32_t first, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) co_yield op::fork(TaskId(first + i));
}

Program hog(Arena&) {
  for (;;) co_yield op::run(1_s);
}

Result<Workload> build(const Params& params, size_t nr_cpus) {
  const auto nices = params.integers("nice", -20, 19);
  if (!nices) return nices.error();
  const auto cpu = params.integer("cpu", -1, static_cast<int64_t>(nr_cpus) - 1);
  if (!cpu) return cpu.error();
  const auto duration = params.duration("duration", 1_ms, 3600_s);
  if (!duration) return duration.error();

  Workload w;
  const std::string allowed = *cpu < 0 ? "" : std::to_string(*cpu);
  const auto n = static_cast<uint32_t>(nices->size());
  w.tasks.push_back({.name = "launcher", .mm = 1, .program = [n](Arena& arena) {
                       return launcher(arena, 1, n);
                     }});
  for (uint32_t i = 0; i < n; ++i) {
    w.tasks.push_back({.name = "hog" + std::to_string(i),
                       .nice = static_cast<int>((*nices)[i]),
                       .allowed = allowed,
                       .mm = 2 + i,
                       .start = TaskStart::forked,
                       .program = [](Arena& arena) { return hog(arena); }});
  }
  w.end = SimTime{} + *duration;
  return w;
}

}  // namespace

const ModelInfo kHogsModel = {
    "hogs",
    "CPU-bound processes (while (1);) that compete for a fixed time",
    "cache effects of taking turns",
    kParams,
    build,
};

}  // namespace runqlab::workload
