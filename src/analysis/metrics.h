// analysis/metrics.h — what a run did for each task, from its records alone: the same for a
// recording and for a simulation.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/latency_sample.h"
#include "base/id_vector.h"
#include "observe/record/recorder.h"

namespace runqlab::analysis {

struct TaskMetrics {
  Duration cpu{};           // on a CPU, interrupts included
  uint64_t switches = 0;    // times it was switched in
  uint64_t migrations = 0;  // times it ran on another CPU than before
  LatencySample wakeup;     // from sched_waking (or fork) to being switched in
  SimTime finished{};       // when it left a CPU last

  void merge(const TaskMetrics& o) {
    cpu += o.cpu;
    switches += o.switches;
    migrations += o.migrations;
    wakeup.merge(o.wakeup);
    finished = std::max(finished, o.finished);
  }
};

class MetricsSink : public RecordSink {
 public:
  void consume(std::span<const Record> records) override;
  // Charges what runs at the end of the run or recording. Call once.
  void finish(SimTime end);

  // Indexed by TaskId; tasks beyond the end did nothing.
  [[nodiscard]] const std::vector<TaskMetrics>& tasks() const { return tasks_; }
  [[nodiscard]] TaskMetrics total() const;

 private:
  struct State {
    CpuId last_cpu{};
    SimTime woken{};
    bool waits = false;  // woken or forked, not yet switched in
  };
  struct CpuState {
    TaskId current{};
    SimTime since{};
    bool known = false;
  };
  TaskMetrics& metrics(TaskId id);
  void on_switch(const Record& r);

  std::vector<TaskMetrics> tasks_;
  std::vector<State> states_;
  std::vector<CpuState> cpus_;
};

}  // namespace runqlab::analysis
