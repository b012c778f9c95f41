// Whole runs, with recorder and metrics. An event is one dispatched queue slot.
#include "sim/simulation.h"

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include "analysis/arm_run.h"
#include "workload/models/models.h"

namespace runqlab::sim {
namespace {

void run_workload(benchmark::State& state, const std::string& spec,
                  const std::string& machine_name) {
  const auto machine = machine::load_machine(machine_name).value();
  const auto kernel = sched::kernel_of("6.18").value();
  const Workload workload = workload::build_workload(spec, machine.topology.nr_cpus()).value();
  double events = 0, wakeups = 0;
  for (auto _ : state) {
    const analysis::ArmRun run =
        analysis::run_arm({.machine = machine, .kernel = kernel}, workload, false);
    events += static_cast<double>(run.result.events);
    for (const analysis::TaskMetrics& t : run.tasks) {
      wakeups += static_cast<double>(t.wakeup.count());
    }
  }
  state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
  state.counters["wakeups/s"] = benchmark::Counter(wakeups, benchmark::Counter::kIsRate);
}

// Pairs = CPUs / 2, as in the goals of the design.
void Pipe(benchmark::State& state) {
  const int64_t cpus = state.range(0);
  run_workload(state, fmt::format("pipe:pairs={},loops={}", cpus / 2, 400'000 / cpus),
               fmt::format("pack:1 l3:1 core:{} pu:1", cpus));
}
BENCHMARK(Pipe)->Arg(4)->Arg(72)->Arg(1024)->Unit(benchmark::kMillisecond);

// Two sockets with SMT: domains, idle-core search and NUMA balancing take part.
void PipeXeon(benchmark::State& state) {
  run_workload(state, "pipe:pairs=36,loops=5000", "xeon-e5-2699v3-2s");
}
BENCHMARK(PipeXeon)->Unit(benchmark::kMillisecond);

void Hogs(benchmark::State& state) {
  run_workload(state, "hogs:nice=0/0/0/0/5/5/5/5,duration=60s", "pack:1 l3:1 core:4 pu:1");
}
BENCHMARK(Hogs)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace runqlab::sim
