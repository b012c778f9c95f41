// sched/balancer.h — load balancing between run queues: statistics, imbalance, detach and attach
// (FAIR.md E.2 to E.7). Moves queued tasks and says what it moved and how much it looked at; the
// kernel charges the time and runs the preemption checks.
#pragma once

#include <vector>

#include "base/rng.h"
#include "sched/fair.h"
#include "sched/group_stats.h"
#include "sched/state/kernel_state.h"

namespace runqlab::sched {

enum class IdleType : uint8_t { not_idle, idle, newly_idle };

// What one pass did.
struct BalancePass {
  struct Moved {
    TaskId task;
    CpuId from;
  };
  std::vector<Moved> moved;  // attached to the destination, in order
  // CPUs whose running task turned out to have used up its request.
  std::vector<CpuId> expired;
  uint32_t domains = 0;  // tried
  uint32_t cpus = 0;     // looked at

  void clear() {
    moved.clear();
    expired.clear();
    domains = cpus = 0;
  }
};

class Balancer {
 public:
  Balancer(KernelState& state, FairClass& fair, const Rng& rng)
      : s_(state), fair_(fair), newidle_random_(rng.stream("sched.newidle")) {}

  // Due domains of `cpu`, small to large (E.2). The result is valid until the next call.
  const BalancePass& periodic(CpuId cpu, IdleType idle, Here here);
  // `cpu` runs out of fair tasks (E.6). Cost gates use the named costs of the machine.
  const BalancePass& newidle(CpuId cpu, Here here);

 private:
  struct Busiest {
    const SchedGroup* group = nullptr;
    DomainStats stats;
  };
  struct Attempt {
    SchedDomain& domain;
    CpuId dst;
    IdleType idle;
    SimTime now;
    CpuMask& cpus;  // still considered
    Imbalance imbalance{};
    bool all_pinned = false, some_pinned = false;
    CpuId other_dst{};  // a CPU of the same group where a pinned task may run
  };

  // True: `dst` stands for its group; `pulled` is what arrived.
  bool balance_domain(SchedDomain& d, CpuId dst, IdleType idle, SimTime now, uint32_t& pulled);
  [[nodiscard]] bool should_balance(const Attempt& a) const;
  const SchedGroup* find_busiest_group(Attempt& a);
  Busiest collect(const Attempt& a);
  [[nodiscard]] CpuId find_busiest_queue(const Attempt& a, const SchedGroup& group) const;
  uint32_t move_tasks(Attempt& a, CpuId src);
  bool pull_from_busiest(Attempt& a, CpuId cpu, uint32_t& pulled);
  void mark_imbalanced(CpuId cpu, const SchedDomain& d, bool on);
  void note_other_dst(Attempt& a, const Task& p) const;
  bool may_migrate(Attempt& a, const Task& p, const Rq& src) const;
  bool newidle_domain(SchedDomain& d, CpuId cpu, SimTime now, Duration& spent);
  void decay_newidle_cost(CpuId cpu, SimTime now);
  [[nodiscard]] int64_t hz() const { return 1'000'000'000 / s_.machine.tick().ns(); }
  [[nodiscard]] int64_t interval(const SchedDomain& d, bool busy) const {
    return balance_jiffies(d, busy, hz(), s_.rqs.size());
  }
  // Whether NI_RANDOM lets this pass run; `weight` is what a success counts.
  bool newidle_draw(SchedDomain& d, uint32_t& weight);
  void newidle_result(SchedDomain& d, bool success, uint32_t weight) const;

  KernelState& s_;
  FairClass& fair_;
  RandomStream newidle_random_;
  BalancePass pass_;
  CpuMask cpus_;  // of the attempt in progress
};

}  // namespace runqlab::sched
