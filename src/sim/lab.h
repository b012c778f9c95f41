// sim/lab.h — situations for tests in a few words, and what happened as lines to compare. Costs
// are 0 unless lab.costs() says else, and so is the timer slack unless the arm does.
//
//   Lab lab("pack:1 l3:1 core:2 pu:1");
//   lab.task("w").on("0").run(1_ms).wake("x").block();
//   lab.task("x").on("0").waits().run(1_ms);
//   EXPECT_EQ(lab.switches(), (Lines{"0 us, CPU 0: idle -> w", …}));
#pragma once

#include <fmt/core.h>

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine_spec.h"
#include "sched/kernel_config.h"
#include "sim/simulation.h"

namespace runqlab::sim {

using Lines = std::vector<std::string>;

// A task of a Lab: what it is, then its ops in order. It exits after the last one.
class LabTask {
 public:
  explicit LabTask(std::string name) { spec_.name = std::move(name); }

  LabTask& on(std::string cpus) {
    return with([&] { spec_.allowed = std::move(cpus); });
  }
  LabTask& nice(int n) {
    return with([&] { spec_.nice = n; });
  }
  LabTask& policy(Policy p) {
    return with([&] { spec_.policy = p; });
  }
  LabTask& fifo(int priority) {
    return with([&] { spec_.policy = Policy::fifo, spec_.rt_priority = priority; });
  }
  LabTask& starts(Duration at, uint16_t cpu = 0) {
    return with([&] { spec_.start_time = SimTime{} + at, spec_.start_cpu = CpuId(cpu); });
  }
  // Exists from the beginning and waits for its first wakeup.
  LabTask& waits(uint16_t cpu = 0) {
    return with([&] { spec_.start = TaskStart::blocked, spec_.start_cpu = CpuId(cpu); });
  }

  LabTask& settled(uint16_t util) {
    return with([&] { spec_.settled_util = util; });
  }

  LabTask& run(Duration work) { return then(op::run(work)); }
  LabTask& wake(std::string task, bool sync = false) {
    targets_.push_back({ops_.size(), std::move(task)});
    return then(op::wake(TaskId{}, sync));
  }
  LabTask& block() { return then(op::block()); }
  LabTask& sleep(Duration d) { return then(op::sleep(d)); }
  LabTask& yield() { return then(op::yield()); }
  LabTask& set_nice(int n) { return then(op::set_sched(TaskId{}, Policy::normal, n)); }
  LabTask& set_sched(std::string task, Policy policy, int nice_or_priority) {
    targets_.push_back({ops_.size(), std::move(task)});
    return then(op::set_sched(TaskId{}, policy, nice_or_priority));
  }
  LabTask& write(uint32_t pipe) { return then(op::pipe_write(ObjId(pipe), 1)); }
  LabTask& read(uint32_t pipe) { return then(op::pipe_read(ObjId(pipe), 1)); }
  // All ops so far, `n` times in all.
  LabTask& times(int n) {
    return with([&] {
      const size_t once = ops_.size(), names = targets_.size();
      for (int i = 1; i < n; ++i) {
        for (size_t k = 0; k < names; ++k) {
          targets_.push_back({ops_.size() + targets_[k].op, targets_[k].task});
        }
        for (size_t k = 0; k < once; ++k) ops_.push_back(Op(ops_[k]));
      }
    });
  }

 private:
  friend class Lab;
  struct Target {
    size_t op;
    std::string task;
  };
  template <class F>
  LabTask& with(F change) {
    change();
    return *this;
  }
  LabTask& then(Op o) {
    ops_.push_back(o);
    return *this;
  }
  TaskSpec spec_;
  std::vector<Op> ops_;
  std::vector<Target> targets_;
};

class Lab : public RecordSink {
 public:
  explicit Lab(std::string_view machine = "pack:1 l3:1 core:1 pu:1",
               std::string_view arm = "6.18,timer_slack_ns=0")
      : machine_(machine::load_machine(machine).value()),
        kernel_(sched::parse_arm(arm, sched::kernel_of("6.18").value()).value()) {
    machine_.costs = free_of_charge();
  }

  static machine::Costs free_of_charge() {
    machine::Costs c;
    for (const machine::CostInfo& info : machine::cost_table()) c.*info.field = Duration{};
    return c;
  }

  machine::MachineSpec& machine() { return machine_; }
  // The machine's own costs instead of none.
  Lab& with_costs() {
    machine_.costs = machine::load_machine(machine_.name).value().costs;
    return *this;
  }
  machine::Costs& costs() { return machine_.costs; }
  LabTask& task(std::string name) { return tasks_.emplace_back(std::move(name)); }
  ObjId pipe() { return workload_.pipes.emplace_back(PipeSpec{}); }

  // Runs until every task has ended, nothing can happen any more, or `end`; once.
  const RunResult& run(std::optional<Duration> end = {}) {
    for (LabTask& t : tasks_) {
      for (const LabTask::Target& target : t.targets_) {
        t.ops_[target.op].target = id_of(target.task).value();
      }
      t.spec_.program = [ops = &t.ops_](Arena& arena) { return replay(arena, ops); };
      workload_.tasks.push_back(t.spec_);
    }
    if (end) workload_.end = SimTime{} + *end;
    Recorder recorder;
    recorder.add_sink(this);
    Simulation simulation({.machine = machine_, .kernel = kernel_}, workload_, recorder);
    result_ = simulation.run();
    return result_;
  }

  [[nodiscard]] const std::vector<Record>& records() const { return records_; }
  [[nodiscard]] std::vector<Record> records(RecordKind kind) const {
    std::vector<Record> v;
    for (const Record& r : records_) {
      if (r.kind == kind) v.push_back(r);
    }
    return v;
  }

  // "1000 us, CPU 0: w (blocked) -> x", at most `most` lines.
  [[nodiscard]] Lines switches(size_t most = SIZE_MAX) const {
    static constexpr const char* kLeave[] = {"preempted", "yielded", "blocked", "exited", ""};
    Lines lines;
    for (const Record& r : records(RecordKind::sched_switch)) {
      if (lines.size() == most) break;
      const std::string prev = r.task_id().valid()
                                   ? fmt::format("{} ({})", name_of(r.task_id()), kLeave[r.flags])
                                   : "idle";
      lines.push_back(fmt::format("{} us, CPU {}: {} -> {}",
                                  static_cast<double>(r.time_ns) / 1000.0, r.cpu, prev,
                                  name_of(TaskId(r.a))));
    }
    return lines;
  }

  // Time on a CPU, up to the end of the run.
  [[nodiscard]] Duration cpu_time(const std::string& task) const {
    const TaskId id = id_of(task);
    Duration sum;
    std::optional<SimTime> since;
    for (const Record& r : records(RecordKind::sched_switch)) {
      if (since && r.task_id() == id) {
        sum += r.time() - *since;
        since.reset();
      }
      if (TaskId(r.a) == id) since = r.time();
    }
    return since ? sum + (result_.finished - *since) : sum;
  }

  [[nodiscard]] std::string name_of(TaskId id) const {
    return id.valid() ? tasks_[id.index()].spec_.name : "idle";
  }

  void consume(std::span<const Record> records) override {
    records_.insert(records_.end(), records.begin(), records.end());
  }

 private:
  static Program replay(Arena&, const std::vector<Op>* ops) {
    for (size_t i = 0; i < ops->size(); ++i) co_yield (*ops)[i];
  }
  [[nodiscard]] TaskId id_of(const std::string& name) const {
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].spec_.name == name) return TaskId::of(i);
    }
    RQL_CHECK(false);
    return {};
  }

  machine::MachineSpec machine_;
  sched::KernelConfig kernel_;
  Workload workload_;
  std::deque<LabTask> tasks_;
  std::vector<Record> records_;
  RunResult result_;
};

}  // namespace runqlab::sim
