// analysis/decisions.h — the wakeups of a run with where each one landed, and which of them landed
// elsewhere in another run. Runs are aligned by task and by the ordinal of its wakeup.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "observe/record/recorder.h"

namespace runqlab::analysis {

struct Decision {
  SimTime time{};
  TaskId task{};
  TaskId waker{};        // none: an interrupt on an idle CPU
  uint32_t ordinal = 0;  // among the task's wakeups, from 0
  CpuId waker_cpu{};
  CpuId prev{};
  CpuId chosen{};       // none: it was still queued, no CPU was selected
  uint8_t rule = 0;     // sched::PlacementRule
  uint8_t affine = 0;   // sched::AffineRule
  uint8_t flags = 0;    // wake_flags
  uint8_t context = 0;  // WakeContext
  uint16_t probes = 0;
  int32_t left = 0, right = 0;  // compared by the weight rule
  int64_t latency_ns = -1;      // until it ran; -1: it did not
};

class DecisionSink : public RecordSink {
 public:
  void consume(std::span<const Record> records) override;
  // By task, then by ordinal.
  [[nodiscard]] const std::vector<std::vector<Decision>>& by_task() const { return by_task_; }
  // How often it was woken.
  [[nodiscard]] size_t count(TaskId task) const {
    return task.index() < by_task_.size() ? by_task_[task.index()].size() : 0;
  }
  // Null when the task was not woken that often.
  [[nodiscard]] const Decision* find(TaskId task, uint32_t ordinal) const;

 private:
  std::vector<Decision>& of(TaskId task);
  std::vector<std::vector<Decision>> by_task_;
};

struct ChangedPlacement {
  const Decision* a = nullptr;
  const Decision* b = nullptr;
};

// The wakeups that landed on another CPU in B, by how much their latency changed, largest first; at
// most `most`. `total` gets how many there are.
std::vector<ChangedPlacement> changed_placements(const DecisionSink& a, const DecisionSink& b,
                                                 size_t most, uint64_t& total);

}  // namespace runqlab::analysis
