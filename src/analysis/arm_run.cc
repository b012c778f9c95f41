#include "analysis/arm_run.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace runqlab::analysis {

ArmRun run_arm(const sim::RunConfig& config, const Workload& workload, bool keep_decisions) {
  ArmRun out;
  Recorder recorder;
  MetricsSink metrics;
  recorder.add_sink(&metrics);
  if (keep_decisions) recorder.add_sink(&out.decisions);
  sim::Simulation simulation(config, workload, recorder);
  out.result = simulation.run();
  metrics.finish(out.result.finished);
  out.tasks = metrics.tasks();
  out.tasks.resize(workload.tasks.size());
  return out;
}

void for_each_parallel(size_t n, unsigned threads, const std::function<void(size_t)>& job) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < n; i = next++) job(i);
  };
  std::vector<std::jthread> pool;
  const size_t extra = std::min<size_t>(threads > 0 ? threads - 1 : 0, n > 0 ? n - 1 : 0);
  pool.reserve(extra);
  for (size_t i = 0; i < extra; ++i) pool.emplace_back(work);
  work();
}

}  // namespace runqlab::analysis
