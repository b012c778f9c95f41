// When domains are balanced: the periodic pass and the pass of a CPU that runs empty (FAIR.md E.2,
// E.6).
#include <algorithm>

#include "sched/balancer.h"

namespace runqlab::sched {
namespace {

constexpr int64_t kDefaultNextBalanceSeconds = 60;

}  // namespace

// The newidle cost estimates shrink by about 1 % a second.
void Balancer::decay_newidle_cost(CpuId cpu, SimTime now) {
  const int64_t jiffy = s_.machine.jiffies(now);
  bool decayed = false;
  Duration sum{};
  for (SchedDomain& d : s_.domains.of[cpu]) {
    if (jiffy > d.next_cost_decay) {
      d.max_newidle_cost = decayed_newidle_cost(d.max_newidle_cost);
      d.next_cost_decay = jiffy + hz();
      decayed = true;
    }
    sum += d.max_newidle_cost;
  }
  if (decayed) s_.rqs[cpu].max_idle_balance_cost = std::max(s_.tun.migration_cost_ns, sum);
}

const BalancePass& Balancer::periodic(CpuId cpu, IdleType idle, Here here) {
  pass_.clear();
  Rq& rq = s_.rqs[cpu];
  const int64_t jiffy = s_.machine.jiffies(here.now);
  int64_t next = jiffy + kDefaultNextBalanceSeconds * hz();
  bool busy = idle != IdleType::idle && !s_.only_idle_policy(cpu);
  decay_newidle_cost(cpu, here.now);
  for (SchedDomain& d : s_.domains.of[cpu]) {
    bool stands_for_group = true;
    if (jiffy >= d.last_balance + interval(d, busy)) {
      uint32_t pulled = 0;
      stands_for_group =
          balance_domain(d, cpu, busy ? IdleType::not_idle : IdleType::idle, here.now, pulled);
      if (pulled != 0) busy = !rq.is_idle() && !s_.only_idle_policy(cpu);
      d.last_balance = jiffy;
    }
    next = std::min(next, d.last_balance + interval(d, busy));
    // Another CPU balances for this group, and with it for the levels above.
    if (!stands_for_group) break;
  }
  rq.next_balance = next;
  return pass_;
}

bool Balancer::newidle_draw(SchedDomain& d, uint32_t& weight) {
  weight = 1;
  if (!s_.feat.ni_random) return true;
  weight = 1 + d.newidle_ratio;
  if (newidle_random_.below(1024) <= weight) return true;
  newidle_result(d, false, weight);
  return false;
}

void Balancer::newidle_result(SchedDomain& d, bool success, uint32_t weight) const {
  if (!s_.feat.ni_random) return;
  ++d.newidle_calls;
  if (success) d.newidle_success += (1024 + weight / 2) / weight;
  if (d.newidle_calls >= 1024) {
    d.newidle_ratio = d.newidle_success;
    d.newidle_calls /= 2;
    d.newidle_success /= 2;
  }
}

const BalancePass& Balancer::newidle(CpuId cpu, Here here) {
  pass_.clear();
  Rq& rq = s_.rqs[cpu];
  if (rq.ttwu_pending) return pass_;
  rq.idle_stamp_ns = clock_ns(here.now);
  auto& ladder = s_.domains.of[cpu];
  if (ladder.empty()) return pass_;
  // An idle CPU balances more often than the busy one that it was.
  int64_t next = s_.machine.jiffies(here.now) + hz();
  const auto due = [&](const SchedDomain& d) {
    next = std::min(next, d.last_balance + interval(d, false));
  };
  if (s_.overload && rq.avg_idle >= ladder.front().max_newidle_cost) {
    fair_.update_blocked(rq, here.now);
    Duration spent{};
    for (SchedDomain& d : ladder) {
      due(d);
      if (rq.avg_idle < spent + d.max_newidle_cost) break;
      if (!d.flags.balance_newidle) continue;
      const bool pulled = newidle_domain(d, cpu, here.now, spent);
      if (pulled || rq.nr_running != 0 || rq.ttwu_pending) break;
    }
    rq.max_idle_balance_cost = std::max(rq.max_idle_balance_cost, spent);
  } else {
    due(ladder.front());
  }
  rq.next_balance = std::min(rq.next_balance, next);
  if (!pass_.moved.empty()) rq.idle_stamp_ns = 0;
  return pass_;
}

// True when it pulled something. What it cost is the estimate for the next time.
bool Balancer::newidle_domain(SchedDomain& d, CpuId cpu, SimTime now, Duration& spent) {
  uint32_t weight = 1;
  if (!newidle_draw(d, weight)) return false;
  const uint32_t looked = pass_.cpus;
  uint32_t pulled = 0;
  balance_domain(d, cpu, IdleType::newly_idle, now, pulled);
  const auto& costs = s_.machine.costs();
  const Duration cost = costs.balance_ns + costs.balance_cpu_ns * (pass_.cpus - looked);
  spent += cost;
  Duration estimate = cost;
  if (s_.feat.newidle_bump) {
    if (pulled == 0) estimate = d.max_newidle_cost * 3 / 2;
    estimate = std::min(estimate, s_.tun.migration_cost_ns + Duration::nanos(200));
  }
  d.max_newidle_cost = std::max(d.max_newidle_cost, estimate);
  if (cost > Duration{}) newidle_result(d, pulled != 0, weight);
  return pulled != 0;
}

}  // namespace runqlab::sched
