// sched/state/domain.h — scheduling domains and groups (FAIR.md E.1), one ladder per CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/cpu_mask.h"
#include "base/id_vector.h"
#include "base/types.h"

namespace runqlab::sched {

enum class DomainLevel : uint8_t { smt, cluster, mc, package, numa };

struct DomainFlags {
  bool share_capacity = false;  // threads of one core
  bool share_llc = false;
  bool cluster = false;
  bool numa = false;
  bool prefer_sibling = false;
  bool balance_newidle = true;
  bool balance_exec = true;
  bool balance_fork = true;
  bool wake_affine = true;
};

struct SchedGroup {
  CpuMask span;
  CpuMask balance_mask;  // CPUs that may balance for it; the span, unless groups overlap
  uint32_t weight = 0;   // CPUs
  uint32_t cores = 0;
  uint64_t capacity = 0;
  bool imbalanced = false;      // a child's balance was held up by affinity
  bool prefer_sibling = false;  // of the child domain that the group is
};

struct SchedDomain {
  DomainLevel level = DomainLevel::mc;
  DomainFlags flags{};
  CpuMask span;
  uint32_t weight = 0;
  uint32_t imbalance_pct = 117;
  uint32_t cache_nice_tries = 1;
  uint32_t min_interval_ms = 0;
  uint32_t max_interval_ms = 0;
  uint32_t busy_factor = 16;
  uint32_t imb_numa_nr = 0;
  std::vector<std::shared_ptr<SchedGroup>> groups;  // ring, the own group first

  // Balancing state of this CPU at this level.
  int64_t last_balance = 0;  // jiffies
  uint32_t balance_interval_ms = 0;
  uint32_t nr_balance_failed = 0;
  Duration max_newidle_cost{};
  Duration avg_scan_cost{};     // of the idle search in it (SIS_PROP)
  int64_t next_cost_decay = 0;  // jiffies
  uint32_t newidle_ratio = 512, newidle_calls = 0, newidle_success = 0;  // NI_RANDOM
};

// State shared by the CPUs of one last-level cache.
struct LlcShared {
  uint32_t size = 0;  // CPUs
  // Idle CPUs worth looking at (SIS_UTIL). 0 in a kernel until the first balance pass; here the
  // size, see docs/ARCHITECTURE.md.
  int64_t nr_idle_scan = 0;
  bool has_idle_cores = false;
  uint32_t nr_busy = 0;  // CPUs whose tick runs
};

struct Domains {
  IdVector<CpuId, std::vector<SchedDomain>> of;  // smallest first
  IdVector<CpuId, int> llc_level;  // index into of[cpu] of the largest that shares the LLC; -1
  IdVector<LlcId, LlcShared> llc;
};

}  // namespace runqlab::sched
