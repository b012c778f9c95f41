#include "machine/topology.h"

#include <gtest/gtest.h>

#include <string>

namespace runqlab::machine {
namespace {

Topology make(std::string_view text, CpuNumbering numbering = CpuNumbering::threads_last) {
  Result<Topology> t = Topology::from_synthetic(text, numbering);
  EXPECT_TRUE(t.ok()) << text << ": " << (t.ok() ? "" : t.error().to_string());
  return t.ok() ? *t : Topology();
}

std::string error_of(std::string_view text, CpuNumbering numbering = CpuNumbering::threads_last) {
  const Result<Topology> t = Topology::from_synthetic(text, numbering);
  return t.ok() ? "no error" : t.error().to_string();
}

const CpuInfo& cpu(const Topology& t, size_t i) { return t.cpu(CpuId::of(i)); }
std::string llc(const Topology& t, size_t i) { return t.llc_cpus(LlcId::of(i)).to_list(); }
std::string core(const Topology& t, size_t i) { return t.core_cpus(CoreId::of(i)).to_list(); }
std::string node(const Topology& t, size_t i) { return t.node_cpus(NodeId::of(i)).to_list(); }

TEST(Topology, ThreadsLastNumbersTwoSocketsAsLinuxDoes) {
  const Topology t = make("pack:2 [numa] l3:1 core:18 pu:2");
  EXPECT_EQ(t.nr_cpus(), 72U);
  EXPECT_EQ(t.nr_cores(), 36U);
  EXPECT_EQ(t.nr_llcs(), 2U);
  EXPECT_EQ(t.nr_nodes(), 2U);
  EXPECT_EQ(t.nr_packages(), 2U);
  EXPECT_EQ(t.nr_clusters(), 0U);
  EXPECT_TRUE(t.has_smt());
  EXPECT_EQ(llc(t, 0), "0-17,36-53");
  EXPECT_EQ(llc(t, 1), "18-35,54-71");
  EXPECT_EQ(node(t, 1), "18-35,54-71");
  EXPECT_EQ(t.package_cpus(PackageId::of(0)).to_list(), "0-17,36-53");
  EXPECT_EQ(core(t, 5), "5,41");
  EXPECT_EQ(cpu(t, 5).smt, 0);
  EXPECT_EQ(cpu(t, 41).smt, 1);
  EXPECT_FALSE(cpu(t, 5).cluster.valid());
}

TEST(Topology, AsGivenKeepsTheNumbersOfTheDescription) {
  const Topology t = make("pack:2 [numa] l3:1 core:2 pu:2", CpuNumbering::as_given);
  EXPECT_EQ(core(t, 0), "0-1");
  EXPECT_EQ(llc(t, 1), "4-7");
  // Cores 0 and 1 hold 0,4 and 1,5: the order of the cores follows their lowest CPU.
  const Topology x = make("core:4 pu:2(indexes=3,7,1,5,2,6,0,4)", CpuNumbering::as_given);
  EXPECT_EQ(core(x, 0), "0,4");
  EXPECT_EQ(core(x, 3), "3,7");
  EXPECT_EQ(cpu(x, 7).smt, 1);
}

TEST(Topology, AlternateNodesDealsCpusOutToTheNodes) {
  const Topology t = make("pack:2 [numa] l3:1 core:3 pu:2", CpuNumbering::alternate_nodes);
  EXPECT_EQ(node(t, 0), "0,2,4,6,8,10");
  EXPECT_EQ(node(t, 1), "1,3,5,7,9,11");
  EXPECT_EQ(core(t, 0), "0,6");
  EXPECT_EQ(core(t, 1), "1,7");
}

// The geometry of the Ice Lake in the ipistorm measurements: CPU 8 and 16 share a socket, 16 and
// 17 do not.
TEST(Topology, AlternateNodesOfTheIceLake) {
  const Topology t = make("pack:2 [numa] l3:1 core:32 pu:2", CpuNumbering::alternate_nodes);
  EXPECT_EQ(distance(t, CpuId(8), CpuId(16)), Distance::llc);
  EXPECT_EQ(distance(t, CpuId(16), CpuId(17)), Distance::remote);
  EXPECT_EQ(distance(t, CpuId(16), CpuId(80)), Distance::smt);
}

TEST(Topology, OneNodeUnlessTheDescriptionSaysMore) {
  EXPECT_EQ(make("pack:2 l3:1 core:18 pu:2").nr_nodes(), 1U);
  EXPECT_EQ(make("pack:2 numa:2 l3:4 core:8 pu:2").nr_nodes(), 4U);
  EXPECT_EQ(make("pack:2 [numa(memory=64GB)] l3:1 core:4 pu:1").nr_nodes(), 2U);
  EXPECT_EQ(make("(memory=4GB) pack:1 core:4 pu:1").nr_nodes(), 1U);
}

TEST(Topology, TheOutermostCacheIsTheLlc) {
  EXPECT_EQ(make("pack:2 l3:2 l2:4 l1:1 core:1 pu:2").nr_llcs(), 4U);
  EXPECT_EQ(make("pack:1 l2:2 core:4 pu:1").nr_llcs(), 2U);
  // No cache above the cores: each core is its own, with all its threads.
  EXPECT_EQ(make("pack:1 core:4 pu:2").nr_llcs(), 4U);
  EXPECT_EQ(make("pack:1 core:4 l2:2 pu:1").nr_llcs(), 4U);
  EXPECT_EQ(make("pu:3").nr_llcs(), 3U);
}

TEST(Topology, ClustersLieBetweenCoreAndLlc) {
  const Topology t = make("pack:1 l3:1 l2:4 core:4 pu:1");  // the tests' clu16
  EXPECT_EQ(t.nr_clusters(), 4U);
  EXPECT_EQ(t.cluster_cpus(ClusterId::of(1)).to_list(), "4-7");
  EXPECT_EQ(cpu(t, 15).cluster, ClusterId::of(3));
  EXPECT_EQ(make("pack:1 l3:1 group:2 core:4 pu:2").nr_clusters(), 2U);
  EXPECT_EQ(make("pack:1 l3:1 l2:4 core:1 pu:2").nr_clusters(), 0U);     // an L2 per core
  EXPECT_EQ(make("pack:1 l3:1 l2:1 core:4 pu:1").nr_clusters(), 0U);     // as wide as the LLC
  EXPECT_EQ(make("pack:1 l2:2 core:4 pu:1").nr_clusters(), 0U);          // the L2 is the LLC
  EXPECT_EQ(make("pack:1 l3:1 core:2 group:2 pu:2").nr_clusters(), 0U);  // a group inside a core
}

TEST(Topology, Distances) {
  const Topology t = make("pack:2 [numa] l3:2 core:2 pu:2");  // 4 cores and 8 CPUs per package
  const auto d = [&](uint16_t b) { return to_string(distance(t, CpuId(0), CpuId(b))); };
  EXPECT_EQ(d(0), "same CPU");
  EXPECT_EQ(d(8), "SMT sibling");
  EXPECT_EQ(d(1), "same LLC");
  EXPECT_EQ(d(2), "same node");
  EXPECT_EQ(d(4), "other node");
}

TEST(Topology, NodeDistances) {
  Topology t = make("pack:2 numa:2 l3:1 core:2 pu:1");
  const NodeId n0(0), n1(1), n2(2);
  EXPECT_EQ(t.node_distance(n0, n0), 10U);
  EXPECT_EQ(t.node_distance(n0, n1), 12U);
  EXPECT_EQ(t.node_distance(n0, n2), 21U);

  Topology two = make("pack:2 [numa] l3:1 core:2 pu:1");
  ASSERT_TRUE(two.set_node_distances({10, 32, 32, 10}).ok());
  EXPECT_EQ(two.node_distance(n1, n0), 32U);
  const auto refused = [&](const std::vector<uint32_t>& m) {
    const Status s = two.set_node_distances(m);
    return s.ok() ? "accepted" : s.error().message;
  };
  EXPECT_EQ(refused({10, 32}), "node distances need 2 rows of 2 values, one per NUMA node");
  EXPECT_EQ(refused({11, 32, 32, 10}), "the distance from node 0 to 0 must be 10");
  EXPECT_EQ(refused({10, 255, 255, 10}), "the distance from node 0 to 1 must lie in 10..254");
  EXPECT_EQ(refused({10, 9, 9, 10}), "the distance from node 0 to 1 must lie in 10..254");
  EXPECT_EQ(refused({10, 20, 21, 10}), "the distance from node 0 to 1 differs from that back");
  EXPECT_EQ(two.node_distance(n0, n1), 32U);
}

TEST(Topology, BareAritiesEndInPus) {
  EXPECT_EQ(make("4").nr_cpus(), 4U);
  EXPECT_EQ(make("2 4 2").nr_cpus(), 16U);
}

TEST(Topology, LargeMachines) {
  const Topology t = make("pack:8 [numa] l3:8 core:8 pu:2");
  EXPECT_EQ(t.nr_cpus(), 1024U);
  EXPECT_EQ(t.nr_llcs(), 64U);
  EXPECT_EQ(llc(t, 63), "504-511,1016-1023");
  EXPECT_EQ(core(t, 511), "511,1023");
}

TEST(Topology, ErrorsNameThePlace) {
  EXPECT_EQ(error_of("pack:2 foo:3 pu:1"),
            "(topology):1:8: unknown level (at \"foo\"); levels: pack, die, numa, group, l3, l2, "
            "l1, core, pu");
  EXPECT_EQ(error_of("pack:2 core:4"),
            "(topology):1:8: no PU level: the last level must be the CPUs (at \"core:4\"); append "
            "\"pu:1\"");
  EXPECT_EQ(error_of("pack:1 core:0 pu:1"),
            "(topology):1:13: a level needs at least one element (at \"core:0\")");
  EXPECT_EQ(error_of("pack:6000 core:6000 pu:2"),
            "(topology):1:16: more than 8192 CPUs (at \"core:6000\")");
  EXPECT_EQ(error_of("pack:1 pu:65535"), "(topology):1:11: more than 8192 CPUs (at \"pu:65535\")");
  EXPECT_EQ(error_of("pack:1 pu:1 core:2"),
            "(topology):1:13: nothing can follow the PU level (at \"core:2\"); example: \"pack:2 "
            "[numa] l3:1 core:18 pu:2\"");
  EXPECT_EQ(error_of("machine:1 pu:2"),
            "(topology):1:1: the machine is implicit (at \"machine:1\"); leave this level out");
}

TEST(Topology, SyntaxErrors) {
  const std::string example = "; example: \"pack:2 [numa] l3:1 core:18 pu:2\"";
  EXPECT_EQ(error_of(""), "(topology):1:1: empty topology" + example);
  EXPECT_EQ(error_of("  \t"), "(topology):1:1: empty topology" + example);
  EXPECT_EQ(error_of("pack:1 core"),
            "(topology):1:8: expected \"type:number\" (at \"core\")" + example);
  EXPECT_EQ(error_of("pack:1 core:x pu:1"),
            "(topology):1:13: expected \"type:number\" (at \"core:x\")" + example);
  EXPECT_EQ(error_of("pack:1,pu:1"),
            "(topology):1:6: expected \"type:number\" (at \"pack:1,pu:1\")" + example);
  EXPECT_EQ(error_of("pack:2 [numa pu:1"),
            "(topology):1:8: this bracket is not closed (at \"[\")" + example);
  EXPECT_EQ(error_of("pack:2(memory=1GB pu:1"),
            "(topology):1:7: this bracket is not closed (at \"(\")" + example);
  EXPECT_EQ(error_of("pack:1 [foo] pu:1"),
            "(topology):1:9: only numa can stand in brackets (at \"foo\")" + example);
  // hwloc itself aborts on these.
  EXPECT_EQ(error_of("pack:1 memcache:2 pu:1").substr(0, 29), "(topology):1:8: unknown level");
  EXPECT_EQ(
      error_of("pack:1 core:2 pack:2 pu:1"),
      "(topology):1:1: hwloc does not accept this topology; `lstopo -i \"pack:1 core:2 pack:2 "
      "pu:1\"` tries it alone");
  EXPECT_EQ(error_of("core:2 pack:2 pu:1"),
            "(topology):1:1: a core lies in two packages or nodes; order the levels from the "
            "outermost: pack, numa, l3, core, pu");
}

TEST(Topology, CpuNumbersMustBeDense) {
  constexpr auto kAsGiven = CpuNumbering::as_given;
  EXPECT_EQ(error_of("pu:4(indexes=0,2,4,6)", kAsGiven),
            "(topology):1:1: CPU numbers must be 0..3, but there is no CPU 1; check indexes=");
  EXPECT_EQ(error_of("pu:4(indexes=0,0,1,2)", kAsGiven),
            "(topology):1:1: two CPUs have the same number; check indexes=");
  EXPECT_EQ(error_of("pu:4(indexes=x)", kAsGiven),
            "(topology):1:1: indexes= of the PU level has no effect; write a list of all CPU "
            "numbers: indexes=0,2,1,3");
  EXPECT_EQ(error_of("pu:4(indexes=0,1,2,3)", kAsGiven), "no error");
}

}  // namespace
}  // namespace runqlab::machine
