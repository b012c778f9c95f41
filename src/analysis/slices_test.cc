// How long a CPU-bound task runs until it is preempted: recorded, re-run, and in the hogs workload.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/arm_run.h"
#include "trace/replay.h"
#include "workload/models/models.h"

namespace runqlab::analysis {
namespace {

// Lengths of the runs that ended in a preemption, in ms, of tasks whose name begins with "hog".
class Slices : public RecordSink {
 public:
  void consume(std::span<const Record> records) override {
    all.insert(all.end(), records.begin(), records.end());
  }
  [[nodiscard]] std::vector<double> of(const Workload& w, SimTime until = SimTime::max()) const {
    std::vector<double> v;
    std::vector<SimTime> since(64);
    for (const Record& r : all) {
      if (r.time() > until) break;
      if (r.kind != RecordKind::sched_switch) continue;
      if (r.task_id().valid() && w.tasks[r.task_id()].name.starts_with("hog") &&
          static_cast<TaskLeave>(r.flags) == TaskLeave::preempted) {
        v.push_back(static_cast<double>((r.time() - since[r.cpu]).ns()) / 1e6);
      }
      since[r.cpu] = r.time();
    }
    std::sort(v.begin(), v.end());
    return v;
  }
  // From then on the others have more of the CPUs.
  [[nodiscard]] SimTime first_exit(const Workload& w) const {
    for (const Record& r : all) {
      if (r.kind == RecordKind::exit && w.tasks[r.task_id()].name.starts_with("hog")) {
        return r.time();
      }
    }
    return SimTime::max();
  }
  std::vector<Record> all;
};

Slices simulate(const Workload& w, const machine::Tracing& tracing) {
  const auto machine = machine::load_machine("vm-2").value();
  const auto kernel = sched::kernel_of("6.18.44").value();
  Slices slices;
  Recorder recorder;
  recorder.add_sink(&slices);
  sim::Simulation({.machine = machine, .kernel = kernel, .tracing = tracing}, w, recorder).run();
  return slices;
}

double at(const std::vector<double>& v, size_t percent) { return v[v.size() * percent / 100]; }

class HogRecording : public testing::TestWithParam<const char*> {};

TEST_P(HogRecording, SlicesAgree) {
  const auto machine = machine::load_machine("vm-2").value();
  Slices recorded;
  Diagnostics diagnostics;
  const auto replay = trace::load_replay(
      std::string(RUNQLAB_TEST_DATA) + "/recordings/host_6.18/" + GetParam() + ".trace.txt.xz",
      machine, {}, recorded, diagnostics);
  ASSERT_TRUE(replay.ok());
  // The recorded hogs ran for a time, those of the re-run have the same work to do: where they are
  // free to move, chance gives one of them more than its third, and it ends earlier.
  const Slices rerun = simulate(replay->workload, replay->tracing);
  const SimTime until = rerun.first_exit(replay->workload);
  const auto was = recorded.of(replay->workload, until);
  const auto is = rerun.of(replay->workload, until);
  ASSERT_GT(was.size(), 100U);
  EXPECT_NEAR(static_cast<double>(is.size()), static_cast<double>(was.size()),
              0.1 * static_cast<double>(was.size()));
  // Above, in hogs_3_unpinned, a hog that happens to be alone on its CPU runs for tens of ms.
  for (const size_t percent : {25, 50, 75}) {
    EXPECT_NEAR(at(is, percent), at(was, percent), 0.05) << "percentile " << percent;
  }
}
INSTANTIATE_TEST_SUITE_P(Host618, HogRecording,
                         testing::Values("hogs_cpu0_n0_n0", "hogs_cpu0_4xn0", "hogs_3_unpinned",
                                         "hogs_cpu0_n0_n5_n10"),
                         [](const auto& p) { return std::string(p.param); });

TEST(HogsModel, EqualHogsTakeTurnsOfOneTick) {
  const auto w = workload::build_workload("hogs:nice=0/0/0,cpu=0,duration=3s", 2).value();
  const auto v = simulate(w, {}).of(w);
  ASSERT_GT(v.size(), 500U);
  EXPECT_NEAR(at(v, 10), 4.0, 0.05);
  EXPECT_NEAR(at(v, 90), 4.0, 0.05);
}

}  // namespace
}  // namespace runqlab::analysis
