// pipe: pairs of tasks that pass a token to and fro through two pipes, as `perf bench sched pipe`
// (one pair) and will-it-scale's context_switch1 (many) do (FAIR.md G.2).
#include "workload/models/models.h"

namespace runqlab::workload {
namespace {

constexpr ParamInfo kParams[] = {
    {"pairs", "1", "pairs of tasks, each with two pipes of its own"},
    {"loops", "10000", "round trips of each pair"},
    {"threads", "0", "1: both ends share an address space; 0: they are processes"},
    {"bytes", "4", "size of a message"},
};
constexpr int64_t kMaxPairs = 50'000;

Program launcher(Arena&, uint32_t first, uint32_t pairs) {
  for (uint32_t i = 0; i < pairs; ++i) co_yield op::fork(TaskId(first + 2 * i));
}

Program parent(Arena&, TaskId child, ObjId out, ObjId in, int64_t loops, int64_t bytes) {
  co_yield op::fork(child);
  for (int64_t i = 0; i < loops; ++i) {
    co_yield op::pipe_write(out, bytes);
    co_yield op::pipe_read(in, bytes);
  }
}

Program child(Arena&, ObjId in, ObjId out, int64_t loops, int64_t bytes) {
  for (int64_t i = 0; i < loops; ++i) {
    co_yield op::pipe_read(in, bytes);
    co_yield op::pipe_write(out, bytes);
  }
}

Result<Workload> build(const Params& params, size_t) {
  const auto pairs = params.integer("pairs", 1, kMaxPairs);
  if (!pairs) return pairs.error();
  const auto loops = params.integer("loops", 1, 1'000'000'000);
  if (!loops) return loops.error();
  const auto threads = params.integer("threads", 0, 1);
  if (!threads) return threads.error();
  const auto bytes = params.integer("bytes", 1, 4096);
  if (!bytes) return bytes.error();

  Workload w;
  const auto n = static_cast<uint32_t>(*pairs);
  w.tasks.push_back({.name = "launcher", .mm = 1, .program = [n](Arena& arena) {
                       return launcher(arena, 1, n);
                     }});
  for (uint32_t i = 0; i < n; ++i) {
    const ObjId there = w.pipes.emplace_back(PipeSpec{});
    const ObjId back = w.pipes.emplace_back(PipeSpec{});
    const TaskId second = TaskId::of(w.tasks.size() + 1);
    const uint32_t mm = 2 + 2 * i;
    w.tasks.push_back({.name = "sched-pipe",
                       .mm = mm,
                       .start = TaskStart::forked,
                       .program = [=, loops = *loops, bytes = *bytes](Arena& arena) {
                         return parent(arena, second, there, back, loops, bytes);
                       }});
    w.tasks.push_back({.name = "sched-pipe",
                       .mm = *threads == 1 ? mm : mm + 1,
                       .start = TaskStart::forked,
                       .program = [=, loops = *loops, bytes = *bytes](Arena& arena) {
                         return child(arena, there, back, loops, bytes);
                       }});
  }
  w.operations = *pairs * *loops;
  return w;
}

}  // namespace

const ModelInfo kPipeModel = {
    "pipe",
    "perf bench sched pipe (pairs=1) and will-it-scale context_switch1 (pairs=N): each write finds "
    "an empty pipe and wakes the other end with the sync hint",
    "time spent in user mode between the calls",
    kParams,
    build,
};

}  // namespace runqlab::workload
