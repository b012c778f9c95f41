#include "sched/domain_builder.h"

#include <algorithm>
#include <map>
#include <set>

namespace runqlab::sched {
namespace {

using machine::Topology;

// Beyond this NUMA distance a level is too far for exec, fork and affine wakeups.
constexpr uint32_t kReclaimDistance = 30;

struct Candidate {
  DomainLevel level;
  CpuMask span;
  uint32_t distance = 0;  // numa only
};

// Spans of one CPU's levels, small to large, before levels that add nothing are removed.
std::vector<Candidate> candidates(const Topology& t, CpuId c) {
  const machine::CpuInfo& info = t.cpu(c);
  std::vector<Candidate> v;
  v.push_back({DomainLevel::smt, t.core_cpus(info.core)});
  if (info.cluster.valid()) v.push_back({DomainLevel::cluster, t.cluster_cpus(info.cluster)});
  v.push_back({DomainLevel::mc, t.llc_cpus(info.llc)});
  v.push_back({DomainLevel::package, t.node_cpus(info.node)});
  std::set<uint32_t> distances;
  for (size_t n = 0; n < t.nr_nodes(); ++n) {
    for (size_t o = 0; o < t.nr_nodes(); ++o) {
      if (n != o) {
        distances.insert(t.node_distance(machine::NodeId::of(n), machine::NodeId::of(o)));
      }
    }
  }
  for (const uint32_t d : distances) {
    CpuMask span(t.nr_cpus());
    for (size_t n = 0; n < t.nr_nodes(); ++n) {
      const auto node = machine::NodeId::of(n);
      if (node == info.node || t.node_distance(info.node, node) <= d) span |= t.node_cpus(node);
    }
    v.push_back({DomainLevel::numa, span, d});
  }
  // A cache may span more than a node (or a cluster more than a cache): levels only grow.
  for (size_t i = 1; i < v.size(); ++i) v[i].span |= v[i - 1].span;
  return v;
}

SchedDomain domain_of(const Candidate& k) {
  SchedDomain d;
  d.level = k.level;
  d.span = k.span;
  d.weight = static_cast<uint32_t>(k.span.count());
  DomainFlags& f = d.flags;
  f.prefer_sibling = k.level != DomainLevel::numa;
  switch (k.level) {
    case DomainLevel::smt:
      f.share_capacity = f.share_llc = true;
      d.imbalance_pct = 110;
      d.cache_nice_tries = 0;
      break;
    case DomainLevel::cluster:
      f.cluster = f.share_llc = true;
      break;
    case DomainLevel::mc:
      f.share_llc = true;
      break;
    case DomainLevel::package:
      break;
    case DomainLevel::numa:
      f.numa = true;
      d.cache_nice_tries = 2;
      if (k.distance > kReclaimDistance) f.balance_exec = f.balance_fork = f.wake_affine = false;
      break;
  }
  d.min_interval_ms = d.weight;
  d.max_interval_ms = 2 * d.weight;
  d.balance_interval_ms = d.weight;
  return d;
}

// A level that spans no more than its child is dropped; its wish to spread over siblings goes to
// the child.
std::vector<SchedDomain> ladder(const Topology& t, CpuId c) {
  std::vector<SchedDomain> v;
  for (const Candidate& k : candidates(t, c)) {
    if (k.span.count() <= 1) continue;
    if (!v.empty() && v.back().span == k.span) {
      v.back().flags.prefer_sibling |= domain_of(k).flags.prefer_sibling;
      continue;
    }
    v.push_back(domain_of(k));
  }
  return v;
}

uint32_t count_cores(const Topology& t, const CpuMask& span) {
  std::set<machine::CoreId> cores;
  for (const CpuId c : span) cores.insert(t.cpu(c).core);
  return static_cast<uint32_t>(cores.size());
}

// Span of the level below `level` for one CPU: the CPU alone at the bottom.
CpuMask child_span(const Domains& all, CpuId c, const SchedDomain& parent, size_t nr_cpus) {
  CpuMask span(nr_cpus);
  span.set(c);
  for (const SchedDomain& d : all.of[c]) {
    if (d.weight >= parent.weight || !d.span.subset_of(parent.span)) break;
    span = d.span;
  }
  return span;
}

bool child_prefers_sibling(const Domains& all, CpuId c, const CpuMask& span) {
  for (const SchedDomain& d : all.of[c]) {
    if (d.span == span) return d.flags.prefer_sibling;
  }
  return false;
}

// The groups of a span at one level: for each of its CPUs the one that stands for its child domain.
// CPUs of one domain see the same objects: state such as `imbalanced` is the group's, not the
// viewer's.
struct SpanGroups {
  CpuMask span;
  IdVector<CpuId, std::shared_ptr<SchedGroup>> home;
};

SpanGroups make_groups(const Topology& t, const Domains& all, const SchedDomain& d) {
  const size_t n = t.nr_cpus();
  SpanGroups out{d.span, IdVector<CpuId, std::shared_ptr<SchedGroup>>(n)};
  for (const CpuId cpu : d.span) {
    if (out.home[cpu]) continue;
    auto g = std::make_shared<SchedGroup>();
    g->span = child_span(all, cpu, d, n);
    g->weight = static_cast<uint32_t>(g->span.count());
    g->cores = count_cores(t, g->span);
    for (const CpuId member : g->span) g->capacity += t.cpu(member).capacity;
    g->prefer_sibling = child_prefers_sibling(all, cpu, g->span);
    g->balance_mask = CpuMask(n);
    // Child spans may overlap on machines whose nodes are not all alike.
    for (const CpuId member : g->span) {
      if (child_span(all, member, d, n) != g->span) continue;
      g->balance_mask.set(member);
      out.home[member] = g;
    }
  }
  return out;
}

// A ring, the CPU's own group first.
std::vector<std::shared_ptr<SchedGroup>> ring_from(CpuId c, const SpanGroups& groups, size_t n) {
  std::vector<std::shared_ptr<SchedGroup>> ring;
  CpuMask covered(n);
  for (size_t i = 0; i < n; ++i) {
    const CpuId cpu = CpuId::of((c.index() + i) % n);
    if (!groups.span.test(cpu) || covered.test(cpu)) continue;
    ring.push_back(groups.home[cpu]);
    covered |= ring.back()->span;
  }
  return ring;
}

void add_groups(const Topology& t, Domains& all) {
  std::map<std::pair<DomainLevel, CpuId>, std::vector<SpanGroups>> known;  // by level and first CPU
  for (size_t i = 0; i < t.nr_cpus(); ++i) {
    for (SchedDomain& d : all.of[CpuId::of(i)]) {
      auto& same_start = known[{d.level, d.span.first()}];
      auto it = std::find_if(same_start.begin(), same_start.end(),
                             [&](const SpanGroups& g) { return g.span == d.span; });
      if (it == same_start.end()) it = same_start.insert(it, make_groups(t, all, d));
      d.groups = ring_from(CpuId::of(i), *it, t.nr_cpus());
    }
  }
}

// How many tasks a node may hold before the balancer spreads them over nodes (imb_numa_nr).
void set_imb_numa_nr(Domains& all, CpuId c) {
  auto& v = all.of[c];
  uint32_t llc_weight = 1;
  uint32_t first_numa_weight = 0;
  uint32_t imb = 0;
  for (SchedDomain& d : v) {
    if (d.flags.share_llc) {
      llc_weight = d.weight;
      continue;
    }
    if (imb == 0) {
      const uint32_t llcs = d.weight / llc_weight;
      // The first level above the cache; with a cache per node that level is the node itself.
      const uint32_t node = d.flags.numa ? llc_weight : d.weight;
      imb = std::max<uint32_t>(1, node / llc_weight == 1 ? node >> 3 : llcs);
    }
    if (d.flags.numa && first_numa_weight == 0) first_numa_weight = d.weight;
    d.imb_numa_nr = d.flags.numa ? imb * std::max<uint32_t>(1, d.weight / first_numa_weight) : imb;
  }
}

}  // namespace

Domains build_domains(const Topology& t) {
  Domains all;
  all.of = IdVector<CpuId, std::vector<SchedDomain>>(t.nr_cpus());
  all.llc_level = IdVector<CpuId, int>(t.nr_cpus(), -1);
  all.llc = IdVector<LlcId, LlcShared>(t.nr_llcs());
  for (size_t i = 0; i < t.nr_cpus(); ++i) {
    const CpuId c = CpuId::of(i);
    all.of[c] = ladder(t, c);
    for (size_t k = 0; k < all.of[c].size(); ++k) {
      if (all.of[c][k].flags.share_llc) all.llc_level[c] = static_cast<int>(k);
    }
    LlcShared& llc = all.llc[t.cpu(c).llc];
    llc.size = static_cast<uint32_t>(t.llc_cpus(t.cpu(c).llc).count());
    llc.nr_idle_scan = llc.size;
  }
  add_groups(t, all);
  for (size_t i = 0; i < t.nr_cpus(); ++i) set_imb_numa_nr(all, CpuId::of(i));
  return all;
}

}  // namespace runqlab::sched
