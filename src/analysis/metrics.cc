#include "analysis/metrics.h"

namespace runqlab::analysis {

TaskMetrics& MetricsSink::metrics(TaskId id) {
  if (id.index() >= tasks_.size()) {
    tasks_.resize(id.index() + 1);
    states_.resize(id.index() + 1);
  }
  return tasks_[id.index()];
}

void MetricsSink::on_switch(const Record& r) {
  if (r.cpu >= cpus_.size()) cpus_.resize(size_t{r.cpu} + 1);
  CpuState& c = cpus_[r.cpu];
  const TaskId prev = r.task_id(), next(r.a);
  const SimTime now = r.time();
  if (prev.valid()) {
    TaskMetrics& m = metrics(prev);
    State& s = states_[prev.index()];
    // What ran before the first record ran since time 0.
    m.cpu += now - (c.known ? c.since : SimTime{});
    m.finished = now;
    if (!s.last_cpu.valid()) s.last_cpu = r.cpu_id();
    const auto leave = static_cast<TaskLeave>(r.flags);
    // Woken before it slept: that wakeup has no latency.
    if (leave == TaskLeave::blocked || leave == TaskLeave::exited) s.waits = false;
  }
  c = {next, now, true};
  if (!next.valid()) return;
  TaskMetrics& m = metrics(next);
  State& s = states_[next.index()];
  ++m.switches;
  if (s.last_cpu.valid() && s.last_cpu != r.cpu_id()) ++m.migrations;
  s.last_cpu = r.cpu_id();
  if (s.waits) {
    m.wakeup.add(now - s.woken);
    s.waits = false;
  }
}

void MetricsSink::consume(std::span<const Record> records) {
  for (const Record& r : records) {
    switch (r.kind) {
      case RecordKind::sched_switch:
        on_switch(r);
        break;
      case RecordKind::waking:
      case RecordKind::fork: {
        const TaskId wakee = r.kind == RecordKind::fork ? TaskId(r.a) : r.task_id();
        metrics(wakee);
        State& s = states_[wakee.index()];
        if (!s.waits) s.woken = r.time();
        s.waits = true;
        break;
      }
      default:
        break;
    }
  }
}

void MetricsSink::finish(SimTime end) {
  for (CpuState& c : cpus_) {
    if (c.known && c.current.valid()) {
      TaskMetrics& m = metrics(c.current);
      m.cpu += end - c.since;
      m.finished = end;
    }
  }
}

TaskMetrics MetricsSink::total() const {
  TaskMetrics t;
  for (const TaskMetrics& m : tasks_) t.merge(m);
  return t;
}

}  // namespace runqlab::analysis
