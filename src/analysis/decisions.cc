#include "analysis/decisions.h"

#include <algorithm>
#include <cstdlib>

namespace runqlab::analysis {

std::vector<Decision>& DecisionSink::of(TaskId task) {
  if (task.index() >= by_task_.size()) by_task_.resize(task.index() + 1);
  return by_task_[task.index()];
}

const Decision* DecisionSink::find(TaskId task, uint32_t ordinal) const {
  if (task.index() >= by_task_.size() || ordinal >= by_task_[task.index()].size()) return nullptr;
  return &by_task_[task.index()][ordinal];
}

void DecisionSink::consume(std::span<const Record> records) {
  for (const Record& r : records) {
    switch (r.kind) {
      case RecordKind::waking: {
        auto& list = of(r.task_id());
        list.push_back({.time = r.time(),
                        .task = r.task_id(),
                        .waker = TaskId(r.a),
                        .ordinal = static_cast<uint32_t>(list.size()),
                        .waker_cpu = r.cpu_id(),
                        .prev = CpuId(static_cast<uint16_t>(r.b)),
                        .flags = r.flags,
                        .context = static_cast<uint8_t>(r.b >> 16)});
        break;
      }
      case RecordKind::placement: {
        if ((r.flags & wake_flags::kTtwu) == 0) break;
        Decision& d = of(r.task_id()).back();
        d.chosen = CpuId(static_cast<uint16_t>(r.a >> 16));
        d.rule = static_cast<uint8_t>(r.b);
        d.affine = static_cast<uint8_t>(r.b >> 8);
        d.probes = static_cast<uint16_t>(r.b >> 16);
        d.left = static_cast<int32_t>(r.c);
        d.right = static_cast<int32_t>(r.c >> 32);
        break;
      }
      case RecordKind::sched_switch: {
        const TaskId next(r.a);
        if (!next.valid()) break;
        auto& list = of(next);
        if (!list.empty() && list.back().latency_ns < 0) {
          list.back().latency_ns = (r.time() - list.back().time).ns();
        }
        break;
      }
      default:
        break;
    }
  }
}

std::vector<ChangedPlacement> changed_placements(const DecisionSink& a, const DecisionSink& b,
                                                 size_t most, uint64_t& total) {
  std::vector<ChangedPlacement> v;
  for (const auto& list : a.by_task()) {
    for (const Decision& d : list) {
      const Decision* other = b.find(d.task, d.ordinal);
      if (other == nullptr || !d.chosen.valid() || !other->chosen.valid()) continue;
      if (d.chosen != other->chosen) v.push_back({&d, other});
    }
  }
  total = v.size();
  const auto change = [](const ChangedPlacement& c) {
    return std::llabs(c.b->latency_ns - c.a->latency_ns);
  };
  std::stable_sort(v.begin(), v.end(), [&](const ChangedPlacement& x, const ChangedPlacement& y) {
    return change(x) > change(y);
  });
  if (v.size() > most) v.resize(most);
  return v;
}

}  // namespace runqlab::analysis
