#include "sim/limits.h"

#include <algorithm>
#include <string>

#include "sim/simulation.h"

namespace runqlab::sim {

Status check_limits(const machine::MachineSpec& machine, const Workload& workload) {
  const size_t cpus = machine.topology.nr_cpus(), tasks = workload.tasks.size();
  if (tasks + machine::kCpuEvents * cpus + Simulation::kOwnSlots > EventQueue::kMaxSlots) {
    return Error{.message = std::to_string(tasks) + " tasks on " + std::to_string(cpus) +
                            " CPUs are more than one run can hold",
                 .hint = "the tasks and " + std::to_string(machine::kCpuEvents) +
                         " for each CPU may be " +
                         std::to_string(EventQueue::kMaxSlots - Simulation::kOwnSlots)};
  }
  SimTime last = workload.arrivals.empty() ? SimTime{} : workload.arrivals.back().time;
  if (workload.end != SimTime::max()) last = std::max(last, workload.end);
  for (const TaskSpec& t : workload.tasks) last = std::max(last, t.start_time);
  if (last >= EventQueue::kMaxTime) {
    return Error{.message = "the workload lasts " + std::to_string(last.ns() / 1'000'000'000) +
                            " s, but one run can hold " +
                            std::to_string(EventQueue::kMaxTime.ns() / 1'000'000'000) + " s",
                 .hint = "of a recording, take a window: --time START,STOP"};
  }
  return Ok{};
}

}  // namespace runqlab::sim
