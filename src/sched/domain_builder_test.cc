#include "sched/domain_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "machine/machine_spec.h"
#include "trace/import/vectors.h"

namespace runqlab::sched {
namespace {

using Lines = std::vector<std::string>;

machine::Topology topology(const std::string& text) {
  return machine::load_machine(text).value().topology;
}

const char* name(DomainLevel level) {
  constexpr const char* kNames[] = {"SMT", "CLS", "MC", "PKG", "NUMA"};
  return kNames[static_cast<size_t>(level)];
}

// "MC 0-3: 0 | 1 | 2 | 3", smallest first; the groups in the order of the ring.
Lines ladder(const Domains& all, size_t cpu) {
  Lines lines;
  for (const SchedDomain& d : all.of[CpuId::of(cpu)]) {
    std::string line = std::string(name(d.level)) + ' ' + d.span.to_list() + ": ";
    for (const auto& g : d.groups) line += (g == d.groups[0] ? "" : " | ") + g->span.to_list();
    lines.push_back(line);
  }
  return lines;
}

// Only levels and spans.
Lines spans(const Domains& all, size_t cpu) {
  Lines lines = ladder(all, cpu);
  for (std::string& line : lines) line.resize(line.find(':'));
  return lines;
}

std::string flags(const SchedDomain& d) {
  const DomainFlags& f = d.flags;
  std::string s;
  const auto add = [&](bool on, const char* text) {
    if (on) s += s.empty() ? text : std::string(" ") + text;
  };
  add(f.share_capacity, "SHARE_CPUCAPACITY");
  add(f.cluster, "CLUSTER");
  add(f.share_llc, "SHARE_LLC");
  add(f.numa, "NUMA");
  add(f.prefer_sibling, "PREFER_SIBLING");
  add(f.balance_newidle, "NEWIDLE");
  add(f.balance_exec, "EXEC");
  add(f.balance_fork, "FORK");
  add(f.wake_affine, "AFFINE");
  return s;
}

const SchedDomain& top(const Domains& all, size_t cpu) { return all.of[CpuId::of(cpu)].back(); }

// --- Presets -----------------------------------------------------------------------------------

TEST(Domains, Vm2) {
  const Domains all = build_domains(topology("vm-2"));
  EXPECT_EQ(ladder(all, 0), Lines{"MC 0-1: 0 | 1"});
  EXPECT_EQ(ladder(all, 1), Lines{"MC 0-1: 1 | 0"});
  const SchedDomain& d = top(all, 0);
  EXPECT_EQ(flags(d), "SHARE_LLC PREFER_SIBLING NEWIDLE EXEC FORK AFFINE");
  EXPECT_EQ(d.imbalance_pct, 117U);
  EXPECT_EQ(d.cache_nice_tries, 1U);
  EXPECT_EQ(d.min_interval_ms, 2U);
  EXPECT_EQ(d.max_interval_ms, 4U);
  EXPECT_EQ(d.balance_interval_ms, 2U);
  EXPECT_EQ(d.busy_factor, 16U);
  EXPECT_EQ(d.imb_numa_nr, 0U);
  EXPECT_EQ(all.llc_level[CpuId(0)], 0);
}

// The package equals the cache and is dropped.
TEST(Domains, XeonE5) {
  const Domains all = build_domains(topology("xeon-e5-2699v3-2s"));
  EXPECT_EQ(spans(all, 0), (Lines{"SMT 0,36", "MC 0-17,36-53", "NUMA 0-71"}));
  EXPECT_EQ(spans(all, 71), (Lines{"SMT 35,71", "MC 18-35,54-71", "NUMA 0-71"}));
  EXPECT_EQ(ladder(all, 36)[0], "SMT 0,36: 36 | 0");
  EXPECT_EQ(ladder(all, 17)[1].substr(0, 40), "MC 0-17,36-53: 17,53 | 0,36 | 1,37 | 2,3");
  EXPECT_EQ(ladder(all, 0)[2], "NUMA 0-71: 0-17,36-53 | 18-35,54-71");
  EXPECT_EQ(ladder(all, 20)[2], "NUMA 0-71: 18-35,54-71 | 0-17,36-53");
  const auto& v = all.of[CpuId(0)];
  EXPECT_EQ(flags(v[0]), "SHARE_CPUCAPACITY SHARE_LLC PREFER_SIBLING NEWIDLE EXEC FORK AFFINE");
  EXPECT_EQ(flags(v[1]), "SHARE_LLC PREFER_SIBLING NEWIDLE EXEC FORK AFFINE");
  EXPECT_EQ(flags(v[2]), "NUMA NEWIDLE EXEC FORK AFFINE");  // distance 21
  EXPECT_EQ(v[0].imbalance_pct, 110U);
  EXPECT_EQ(v[2].imbalance_pct, 117U);
  EXPECT_EQ(v[0].cache_nice_tries, 0U);
  EXPECT_EQ(v[2].cache_nice_tries, 2U);
  EXPECT_EQ(v[2].imb_numa_nr, 4U);
  EXPECT_EQ(v[2].groups[0]->cores, 18U);
  EXPECT_TRUE(v[2].groups[0]->prefer_sibling);
  EXPECT_TRUE(v[1].groups[0]->prefer_sibling);
  EXPECT_FALSE(v[0].groups[0]->prefer_sibling);  // a single CPU has no child domain
  EXPECT_EQ(all.llc_level[CpuId(0)], 1);
  EXPECT_EQ(all.llc[LlcId(1)].size, 36U);
  EXPECT_EQ(all.llc[LlcId(1)].nr_idle_scan, 36);
}

TEST(Domains, Epyc7763) {
  const Domains all = build_domains(topology("epyc-7763-2s"));
  EXPECT_EQ(spans(all, 0),
            (Lines{"SMT 0,128", "MC 0-7,128-135", "PKG 0-63,128-191", "NUMA 0-255"}));
  EXPECT_EQ(spans(all, 255),
            (Lines{"SMT 127,255", "MC 120-127,248-255", "PKG 64-127,192-255", "NUMA 0-255"}));
  const auto& v = all.of[CpuId(0)];
  EXPECT_EQ(v[2].groups.size(), 8U);
  EXPECT_EQ(v[2].groups[1]->span.to_list(), "8-15,136-143");
  EXPECT_EQ(flags(v[2]), "PREFER_SIBLING NEWIDLE EXEC FORK AFFINE");
  EXPECT_EQ(flags(v[3]), "NUMA NEWIDLE");  // distance 32
  EXPECT_EQ(v[1].imb_numa_nr, 0U);
  EXPECT_EQ(v[2].imb_numa_nr, 8U);
  EXPECT_EQ(v[3].imb_numa_nr, 8U);
  EXPECT_EQ(all.llc_level[CpuId(0)], 1);
}

// --- Levels that add nothing -------------------------------------------------------------------

TEST(Domains, OneCpuHasNone) {
  const Domains all = build_domains(topology("pack:1 l3:1 core:1 pu:1"));
  EXPECT_TRUE(all.of[CpuId(0)].empty());
  EXPECT_EQ(all.llc_level[CpuId(0)], -1);
  EXPECT_EQ(all.llc[LlcId(0)].size, 1U);
}

TEST(Domains, OneCoreIsAnSmtDomainOnly) {
  const Domains all = build_domains(topology("pack:1 l3:1 core:1 pu:4"));
  EXPECT_EQ(ladder(all, 2), Lines{"SMT 0-3: 2 | 3 | 0 | 1"});
  EXPECT_EQ(top(all, 2).imbalance_pct, 110U);
  EXPECT_EQ(all.llc_level[CpuId(2)], 0);
}

TEST(Domains, CoresWithoutASharedCache) {
  const Domains all = build_domains(topology("pack:1 l3:4 core:1 pu:1"));
  EXPECT_EQ(ladder(all, 1), Lines{"PKG 0-3: 1 | 2 | 3 | 0"});
  EXPECT_EQ(all.llc_level[CpuId(1)], -1);
  EXPECT_EQ(top(all, 1).imb_numa_nr, 4U);  // four caches of one CPU
  const Domains smt = build_domains(topology("pack:1 l3:2 core:1 pu:2"));
  EXPECT_EQ(ladder(smt, 0), (Lines{"SMT 0,2: 0 | 2", "PKG 0-3: 0,2 | 1,3"}));
  EXPECT_EQ(smt.llc_level[CpuId(0)], 0);
}

TEST(Domains, Clusters) {
  const Domains all = build_domains(topology("pack:1 l3:1 l2:4 core:4 pu:1"));
  EXPECT_EQ(ladder(all, 5), (Lines{"CLS 4-7: 5 | 6 | 7 | 4", "MC 0-15: 4-7 | 8-11 | 12-15 | 0-3"}));
  EXPECT_EQ(flags(all.of[CpuId(5)][0]),
            "CLUSTER SHARE_LLC PREFER_SIBLING NEWIDLE EXEC FORK AFFINE");
  EXPECT_EQ(all.of[CpuId(5)][0].imbalance_pct, 117U);
  EXPECT_EQ(all.llc_level[CpuId(5)], 1);
  const Domains smt = build_domains(topology("pack:1 l3:1 l2:2 core:2 pu:2"));
  EXPECT_EQ(spans(smt, 0), (Lines{"SMT 0,4", "CLS 0-1,4-5", "MC 0-7"}));
}

// --- NUMA --------------------------------------------------------------------------------------

TEST(Domains, FourNodesInTwoPackages) {
  const Domains all = build_domains(topology("pack:2 numa:2 l3:1 core:2 pu:1"));  // 12 and 21
  EXPECT_EQ(ladder(all, 2), (Lines{"MC 2-3: 2 | 3", "NUMA 0-3: 2-3 | 0-1", "NUMA 0-7: 0-3 | 4-7"}));
  const auto& v = all.of[CpuId(2)];
  EXPECT_TRUE(v[1].groups[0]->prefer_sibling);
  EXPECT_FALSE(v[2].groups[0]->prefer_sibling);  // the child is a NUMA level
  EXPECT_EQ(v[1].imb_numa_nr, 1U);
  EXPECT_EQ(v[2].imb_numa_nr, 2U);  // twice the span of the first NUMA level
}

// Nodes 0-1-2-3 in a ring: the groups of the last level overlap.
TEST(Domains, ARingOfFourNodes) {
  machine::Topology t = topology("pack:4 [numa] l3:1 core:2 pu:1");
  ASSERT_TRUE(t.set_node_distances({10, 20, 40, 20,  //
                                    20, 10, 20, 40,  //
                                    40, 20, 10, 20,  //
                                    20, 40, 20, 10})
                  .ok());
  const Domains all = build_domains(t);
  EXPECT_EQ(ladder(all, 0),
            (Lines{"MC 0-1: 0 | 1", "NUMA 0-3,6-7: 0-1 | 2-3 | 6-7", "NUMA 0-7: 0-3,6-7 | 2-7"}));
  const auto& v = all.of[CpuId(0)];
  EXPECT_EQ(flags(v[1]), "NUMA NEWIDLE EXEC FORK AFFINE");
  EXPECT_EQ(flags(v[2]), "NUMA NEWIDLE");
  // Only CPUs that see a group as the span of their own child may balance for it.
  EXPECT_EQ(v[2].groups[0]->balance_mask.to_list(), "0-1");
  EXPECT_EQ(v[2].groups[1]->balance_mask.to_list(), "4-5");
  EXPECT_EQ(v[1].groups[1]->balance_mask.to_list(), "2-3");
}

TEST(Domains, CpusOfADomainShareItsGroups) {
  const Domains all = build_domains(topology("xeon-e5-2699v3-2s"));
  const auto& a = all.of[CpuId(0)][2].groups;
  const auto& b = all.of[CpuId(71)][2].groups;
  EXPECT_EQ(a[0], b[1]);
  EXPECT_EQ(a[1], b[0]);
  EXPECT_NE(all.of[CpuId(0)][1].groups[0], all.of[CpuId(71)][1].groups[0]);
}

TEST(Domains, ImbNumaNr) {
  for (const VectorRow& row :
       VectorFile(std::string(RUNQLAB_TEST_DATA) + "/vectors/imb_numa_nr.csv")) {
    SCOPED_TRACE(row.to_string());
    const uint64_t llc = row.natural("llc_weight"), node = row.natural("node_weight");
    ASSERT_EQ(row.natural("nr_llcs_per_node"), node / llc);
    const Domains all = build_domains(topology(
        "pack:" + std::to_string(row.natural("numa_span") / node) +
        " [numa] l3:" + std::to_string(node / llc) + " core:" + std::to_string(llc) + " pu:1"));
    EXPECT_EQ(top(all, 0).imb_numa_nr, row.natural("imb_at_NUMA(6.0+)"));
    for (const SchedDomain& d : all.of[CpuId(0)]) {
      if (d.level == DomainLevel::package) {
        EXPECT_EQ(d.imb_numa_nr, row.natural("imb_at_PKG(6.0+)"));
      }
    }
  }
}

}  // namespace
}  // namespace runqlab::sched
