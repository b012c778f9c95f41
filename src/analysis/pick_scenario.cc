// One CPU around the fair class.
#include "analysis/pick_scenario.h"

#include <algorithm>

#include "sched/fair.h"

namespace runqlab::analysis {
namespace {

using sched::RunState;
using sched::Task;
using Lines = std::vector<std::string>;
constexpr int64_t kNever = INT64_MAX;

class OneCpu {
 public:
  OneCpu(const PickScenario& scenario, const sched::KernelConfig& kernel, size_t most)
      : scenario_(scenario),
        eevdf_(kernel.features.eevdf),
        tick_ns_(1'000'000'000 / scenario.hz),
        most_(most),
        fair_(sched::fair_params(kernel, scenario.online_cpus, Duration::nanos(tick_ns_)), tasks_,
              overload_),
        tasks_(scenario.tasks.size()),
        progress_(scenario.tasks.size()) {
    for (size_t i = 0; i < scenario.tasks.size(); ++i) create(i);
  }

  Lines run() {
    schedule("start");
    for (int64_t tick = tick_ns_; lines_.size() < most_;) {
      const int64_t now = std::min({tick, next_block(), next_wakeup()});
      if (now > scenario_.until_ns) break;
      if (rq_.curr.valid()) progress(rq_.curr).run_ns += now - now_;
      now_ = now;
      if (next_block() == now) block();
      for (size_t i = 0; i < progress_.size(); ++i) {
        if (progress_[i].wakes_at == now) wake(i);
      }
      if (tick == now) {
        tick += tick_ns_;
        if (rq_.curr.valid() && fair_.tick(rq_, tasks_[rq_.curr], time())) schedule("tick");
      }
    }
    return std::move(lines_);
  }

 private:
  struct Progress {
    size_t step = 0;     // of the pattern
    int64_t run_ns = 0;  // of this step
    int64_t wakes_at = kNever;
  };

  [[nodiscard]] SimTime time() const { return SimTime::from_ns(now_); }
  Progress& progress(TaskId id) { return progress_[id.index()]; }
  [[nodiscard]] const PickTask& spec(TaskId id) const { return scenario_.tasks[id.index()]; }

  void create(size_t i) {
    const PickTask& spec = scenario_.tasks[i];
    Task& p = tasks_[TaskId::of(i)];
    p.id = p.se.task = TaskId::of(i);
    p.policy = spec.policy;
    p.se.idle_policy = spec.policy == Policy::idle;
    p.se.load = p.se.idle_policy ? sched::idle_policy_weight() : sched::nice_weight(spec.nice);
    p.se.custom_slice = spec.slice_ns.has_value();
    p.se.slice_ns = spec.slice_ns.value_or(0);
    if (spec.start_ns) {
      progress_[i].wakes_at = *spec.start_ns;
      p.state = RunState::sleeping;
      p.se.relative = false;
      return;
    }
    fair_.enqueue(rq_, p, {}, time());
    // Not where it would be placed, but where the scenario says.
    fair_.timeline_erase(rq_.cfs, p.se);
    p.se.vruntime = spec.vruntime;
    p.se.deadline = p.se.vruntime + sched::calc_delta_fair(p.se.slice_ns, p.se.load);
    fair_.timeline_insert(rq_.cfs, p.se);
  }

  [[nodiscard]] int64_t next_block() {
    if (!rq_.curr.valid() || spec(rq_.curr).pattern.empty()) return kNever;
    const Progress& at = progress(rq_.curr);
    return now_ + spec(rq_.curr).pattern[at.step].run_ns - at.run_ns;
  }
  [[nodiscard]] int64_t next_wakeup() const {
    int64_t first = kNever;
    for (const Progress& p : progress_) first = std::min(first, p.wakes_at);
    return first;
  }

  void block() {
    Task& p = tasks_[rq_.curr];
    Progress& at = progress(p.id);
    const auto& steps = spec(p.id).pattern;
    at.wakes_at = now_ + steps[at.step].sleep_ns;
    at.step = (at.step + 1) % steps.size();
    at.run_ns = 0;
    p.state = RunState::sleeping;
    if (!fair_.dequeue(rq_, p, {.sleep = true}, time()).left) note(p, "block-delayed");
    schedule("block");
  }

  void wake(size_t i) {
    Task& p = tasks_[TaskId::of(i)];
    progress_[i].wakes_at = kNever;
    p.state = RunState::runnable;
    bool resched = false;
    if (p.on_rq) {
      resched = fair_.requeue_delayed(rq_, p, time());
      note(p, "wake-requeue");
    } else {
      resched = fair_.enqueue(rq_, p, {.wakeup = true}, time());
      if (eevdf_) note(p, "wake-place");
    }
    resched |= fair_.wakeup_preempt(rq_, p, false, resched, time());
    if (resched || !rq_.curr.valid()) schedule("wakeup-preempt");
  }

  void schedule(const std::string& why) {
    std::vector<TaskId> delayed;
    for (const Task& p : tasks_) {
      if (p.se.delayed) delayed.push_back(p.id);
    }
    const TaskId prev = rq_.curr;
    const TaskId next = fair_.pick(rq_, time());
    for (const TaskId id : delayed) {
      const Task& p = tasks_[id];
      if (p.on_rq) continue;
      lines_.push_back(head(p, "delayed-dequeue") + ",,vlag=" + std::to_string(p.se.vlag));
    }
    if (next != prev) {
      if (prev.valid()) fair_.put_prev(rq_, tasks_[prev], time());
      rq_.curr = next;
      if (next.valid()) fair_.set_next(rq_, tasks_[next], time(), true);
    }
    if (!next.valid()) return;
    const Task& p = tasks_[next];
    lines_.push_back(head(p, next == prev ? why + "/keep" : why));
    if (!eevdf_) return;
    lines_.back() += ',' + std::to_string(p.se.deadline) + ',' + std::to_string(p.se.slice_ns);
  }

  void note(const Task& p, const std::string& what) {
    lines_.push_back(head(p, what) + ',' + std::to_string(p.se.deadline) + ',');
  }
  [[nodiscard]] std::string head(const Task& p, const std::string& what) const {
    return std::to_string(now_) + ',' + spec(p.id).name + ',' + what + ',' +
           std::to_string(p.se.vruntime);
  }

  const PickScenario& scenario_;
  const bool eevdf_;
  const int64_t tick_ns_;
  const size_t most_;
  bool overload_ = false;
  sched::FairClass fair_;
  IdVector<TaskId, Task> tasks_;
  std::vector<Progress> progress_;
  sched::Rq rq_;
  int64_t now_ = 0;
  Lines lines_;
};

}  // namespace

Lines pick_decisions(const PickScenario& scenario, const sched::KernelConfig& kernel, size_t most) {
  return OneCpu(scenario, kernel, most).run();
}

}  // namespace runqlab::analysis
