// sched/placement_lab.h — one placement decision for tests, in a state that the test writes down:
// who runs where, what is queued, what the caches' scan limits are. No time passes.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/check.h"
#include "base/numbers.h"
#include "machine/machine_spec.h"
#include "sched/domain_builder.h"
#include "sched/kernel_config.h"
#include "sched/placer.h"

// A wakeup or fork goes to CPU `to` by this rule.
#define EXPECT_PLACED(placement, to, by) \
  do {                                   \
    const Placement got = (placement);   \
    EXPECT_EQ(got.cpu, CpuId(to));       \
    EXPECT_EQ(got.rule, by);             \
  } while (false)

namespace runqlab::sched {

class PlacementLab {
 public:
  static constexpr SimTime kNow = SimTime::from_ns(100'000'000);

  explicit PlacementLab(std::string_view machine, std::string_view arm = "6.18")
      : PlacementLab(machine, parse_arm(arm, kernel_of("6.18").value()).value()) {}
  PlacementLab(std::string_view machine, const KernelConfig& config)
      : PlacementLab(machine, config.features, config.tunables) {}
  PlacementLab(std::string_view machine, const Features& features, const Tunables& tunables = {})
      : spec(machine::load_machine(machine).value()),
        features_(features),
        tunables_(tunables),
        machine_(spec, queue_, recorder_),
        s(features_, tunables_, machine_),
        placer(s) {
    s.domains = build_domains(spec.topology);
    s.rqs = IdVector<CpuId, Rq>(spec.topology.nr_cpus());
    s.tasks = IdVector<TaskId, Task>(kTasks);
    for (size_t i = 0; i < s.rqs.size(); ++i) {
      s.rqs[CpuId::of(i)].cpu = CpuId::of(i);
      s.rqs[CpuId::of(i)].idle_stamp_ns = 1;
    }
  }
  PlacementLab(const PlacementLab&) = delete;
  PlacementLab& operator=(const PlacementLab&) = delete;

  Rq& rq(size_t cpu) { return s.rqs[CpuId::of(cpu)]; }
  LlcShared& llc(size_t cpu) { return s.llc_of(CpuId::of(cpu)); }

  // A task that slept on `prev` and may run everywhere.
  Task& task(size_t prev, uint64_t h_load = 0) {
    RQL_CHECK(used_ < kTasks);
    const TaskId id = TaskId::of(used_++);
    Task& p = s.tasks[id];
    p.id = p.se.task = id;
    p.cpu = p.recent_used_cpu = CpuId::of(prev);
    p.se.avg.load_avg = h_load;
    allow(p, "");
    return p;
  }
  // CPU list; empty: all.
  void allow(Task& p, std::string_view cpus) const {
    p.allowed = cpus.empty() ? CpuMask::all(s.rqs.size()) : mask(cpus);
    p.nr_allowed = static_cast<uint32_t>(p.allowed.count());
  }
  // `p` runs there, alone unless `nr_running` says more.
  void run(Task& p, size_t cpu, uint64_t cpu_load = 1024, uint32_t nr_running = 1) {
    p.cpu = CpuId::of(cpu);
    p.on_rq = p.se.on_rq = true;
    Rq& r = rq(cpu);
    r.curr = p.id;
    r.nr_running = r.cfs.nr_queued = nr_running;
    r.cfs.avg.load_avg = cpu_load;
    r.cfs.nr_idle_policy = p.has_idle_policy() ? nr_running : 0;
  }
  // Hogs on each CPU of the list; the last one.
  Task& busy(std::string_view cpus, uint64_t cpu_load = 1024, Policy policy = Policy::normal) {
    Task* last = nullptr;
    for (const CpuId c : mask(cpus)) {
      Task& p = *(last = &task(c.index(), 1024));
      p.policy = policy;
      run(p, c.index(), cpu_load);
    }
    return *last;
  }

  Placement wake(Task& p, size_t from, bool sync = false, WakeContext context = WakeContext::task) {
    const uint8_t flags = wake_flags::kTtwu | (sync ? wake_flags::kSync : uint8_t{0});
    return placer.select(p, {CpuId::of(from), kNow}, flags, context);
  }
  Placement fork(Task& p, size_t from) {
    p.cpu = CpuId::of(from);
    return placer.select(p, {CpuId::of(from), kNow}, wake_flags::kFork, WakeContext::task);
  }

  [[nodiscard]] CpuMask mask(std::string_view cpus) const {
    CpuMask m(s.rqs.size());
    const bool ok = parse_cpu_list(cpus, [&](uint32_t first, uint32_t last) {
      for (size_t c = first; c <= last; ++c) m.set(CpuId::of(c));
    });
    RQL_CHECK(ok);
    return m;
  }

  static constexpr size_t kTasks = 512;
  machine::MachineSpec spec;

 private:
  const Features features_;
  const Tunables tunables_;
  EventQueue queue_;
  Recorder recorder_;
  machine::Machine machine_;
  size_t used_ = 0;

 public:
  KernelState s;
  Placer placer;
};

}  // namespace runqlab::sched
