// One CPU, tasks that run and sleep on a fixed pattern, ticks: every scheduling decision of the
// fair class against eevdf_pick.csv. Protocol: at one instant first the end of the running task's
// burst, then wakeups in the order of the tasks, then the tick; switches cost nothing.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sched/fair.h"
#include "trace/import/vectors.h"

namespace runqlab::sched {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

const std::string kVectors = std::string(RUNQLAB_TEST_DATA) + "/vectors/";
constexpr int64_t kNever = INT64_MAX;

struct Kernel {
  const char* version;  // as the vectors call it
  Version rules;
  int64_t base_slice_ns;
};
constexpr Kernel kKernels[] = {
    {"6.6", {6, 6}, 3'000'000}, {"6.12.0", {6, 12}, 3'000'000}, {"6.18", {6, 18}, 2'800'000}};

class OneCpu {
 public:
  OneCpu(const json& scenario, const Kernel& kernel)
      : features_(features_of(kernel.rules)),
        tick_ns_(1'000'000'000 / scenario["hz"].get<int64_t>()),
        until_(scenario["until"]),
        fair_({.feat = features_,
               .base_slice_ns = kernel.base_slice_ns,
               .base_slice_unscaled_ns = kernel.base_slice_ns / 4,
               .tick_ns = tick_ns_},
              tasks_, overload_),
        specs_(scenario["tasks"]),
        tasks_(specs_.size()),
        progress_(specs_.size()) {
    for (size_t i = 0; i < specs_.size(); ++i) create(i);
  }

  // Every decision up to the end of the scenario.
  Lines run() {
    schedule("start");
    for (int64_t tick = tick_ns_;;) {
      const int64_t now = std::min({tick, next_block(), next_wakeup()});
      if (now > until_) return lines_;
      if (rq_.curr.valid()) progress(rq_.curr).run_ns += now - now_;
      now_ = now;
      if (next_block() == now) block();
      for (size_t i = 0; i < specs_.size(); ++i) {
        if (progress_[i].wakes_at == now) wake(i);
      }
      if (tick == now) {
        tick += tick_ns_;
        if (rq_.curr.valid() && fair_.tick(rq_, tasks_[rq_.curr], time())) schedule("tick");
      }
    }
  }

 private:
  struct Progress {
    size_t step = 0;     // of the pattern
    int64_t run_ns = 0;  // of this step
    int64_t wakes_at = kNever;
  };

  [[nodiscard]] SimTime time() const { return SimTime::from_ns(now_); }
  Progress& progress(TaskId id) { return progress_[id.index()]; }

  void create(size_t i) {
    const json& spec = specs_[i];
    Task& p = tasks_[TaskId::of(i)];
    p.id = p.se.task = TaskId::of(i);
    const std::string policy = spec.value("policy", "normal");
    p.policy = policy == "idle" ? Policy::idle : policy == "batch" ? Policy::batch : Policy::normal;
    p.se.load = policy == "idle" ? idle_policy_weight() : nice_weight(spec.value("nice", 0));
    p.se.custom_slice = spec.contains("slice");
    if (p.se.custom_slice) p.se.slice_ns = spec["slice"];
    if (spec.contains("start")) {
      progress_[i].wakes_at = spec["start"];
      p.state = RunState::sleeping;
      return;
    }
    fair_.enqueue(rq_, p, {}, time());
    // Not where it would be placed, but where the scenario says.
    eevdf::timeline_erase(rq_.cfs, p.se);
    p.se.vruntime = spec.value("v0", int64_t{0});
    p.se.deadline = p.se.vruntime + calc_delta_fair(p.se.slice_ns, p.se.load);
    eevdf::timeline_insert(rq_.cfs, p.se);
  }

  [[nodiscard]] const json* pattern(size_t i) const {
    return specs_[i].contains("pattern") ? &specs_[i]["pattern"] : nullptr;
  }
  [[nodiscard]] int64_t next_block() {
    if (!rq_.curr.valid()) return kNever;
    const json* steps = pattern(rq_.curr.index());
    if (steps == nullptr) return kNever;
    const Progress& at = progress(rq_.curr);
    return now_ + (*steps)[at.step][0].get<int64_t>() - at.run_ns;
  }
  [[nodiscard]] int64_t next_wakeup() const {
    int64_t first = kNever;
    for (const Progress& p : progress_) first = std::min(first, p.wakes_at);
    return first;
  }

  void block() {
    Task& p = tasks_[rq_.curr];
    Progress& at = progress(p.id);
    const json& steps = *pattern(p.id.index());
    at.wakes_at = now_ + steps[at.step][1].get<int64_t>();
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
      note(p, "wake-place");
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
    lines_.push_back(head(p, next == prev ? why + "/keep" : why) + ',' +
                     std::to_string(p.se.deadline) + ',' + std::to_string(p.se.slice_ns));
  }

  void note(const Task& p, const std::string& what) {
    lines_.push_back(head(p, what) + ',' + std::to_string(p.se.deadline) + ',');
  }
  [[nodiscard]] std::string head(const Task& p, const std::string& what) const {
    return std::to_string(now_) + ',' + specs_[p.id.index()]["name"].get<std::string>() + ',' +
           what + ',' + std::to_string(p.se.vruntime);
  }

  const Features features_;
  const int64_t tick_ns_;
  const int64_t until_;
  bool overload_ = false;
  FairClass fair_;
  const json specs_;
  IdVector<TaskId, Task> tasks_;
  std::vector<Progress> progress_;
  Rq rq_;
  int64_t now_ = 0;
  Lines lines_;
};

using Key = std::pair<std::string, std::string>;  // version, scenario and HZ

std::map<Key, Lines> expected_decisions() {
  std::map<Key, Lines> all;
  for (const VectorRow& row : VectorFile(kVectors + "eevdf_pick.csv.xz")) {
    std::string line;
    for (const char* column : {"time_ns", "task", "why", "vruntime", "deadline", "slice_or_note"}) {
      line += (line.empty() ? "" : ",") + row.text(column);
    }
    all[{row.text("version"), row.text("scenario") + ',' + row.text("hz")}].push_back(line);
  }
  return all;
}

TEST(PickVectors, EveryDecisionOfEveryScenario) {
  const auto expected = expected_decisions();
  std::ifstream file(kVectors + "pick_scenarios.json");
  const json document = json::parse(file);
  size_t compared = 0;
  for (const json& scenario : document["scenarios"]) {
    const std::string id =
        scenario["id"].get<std::string>() + ',' + std::to_string(scenario["hz"].get<int>());
    for (const Kernel& kernel : kKernels) {
      const auto want = expected.find({kernel.version, id});
      if (want == expected.end()) continue;
      EXPECT_EQ(OneCpu(scenario, kernel).run(), want->second) << kernel.version << ' ' << id;
      ++compared;
    }
  }
  EXPECT_EQ(compared, expected.size());
}

}  // namespace
}  // namespace runqlab::sched
