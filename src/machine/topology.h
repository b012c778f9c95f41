// machine/topology.h — the CPUs of a machine and what they share, as Linux numbers them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/cpu_mask.h"
#include "base/id_vector.h"
#include "base/result.h"
#include "base/types.h"

namespace runqlab::machine {

using CoreId = Id<struct CoreTag, uint16_t>;
using ClusterId = Id<struct ClusterTag, uint16_t>;
using NodeId = Id<struct NodeTag, uint16_t>;
using PackageId = Id<struct PackageTag, uint16_t>;

// Ids of every kind are dense and ascend with the lowest CPU number that they hold.
struct CpuInfo {
  CoreId core{};        // physical core; its CPUs are SMT siblings
  uint16_t smt = 0;     // index of this thread within its core, 0 for the first
  ClusterId cluster{};  // shares an L2 (or tag) with others below the LLC; none when it does not
  LlcId llc{};          // last-level cache; a core without any cache counts as one
  NodeId node{};        // NUMA node
  PackageId package{};
  uint32_t capacity = 1024;  // arch_scale_cpu_capacity, 1..1024
};

// How CPU numbers follow from the tree.
enum class CpuNumbering : uint8_t {
  as_given,         // os_index of the description
  threads_last,     // x86 Linux: first threads of all cores of all packages, then the second ones
  alternate_nodes,  // as threads_last, but consecutive numbers alternate over the nodes
};

class Topology {
 public:
  // An hwloc synthetic description, e.g. "pack:2 [numa] l3:1 core:18 pu:2". An "l2" (or "group")
  // above several cores and below the LLC makes clusters. Without "[numa]" or "numa:N" the machine
  // is one node. Errors (line 1, column in `text`): syntax, no CPU, more than 65 534 CPUs, CPU
  // numbers that are not 0..N-1.
  static Result<Topology> from_synthetic(std::string_view text, CpuNumbering numbering);

  [[nodiscard]] size_t nr_cpus() const { return cpus_.size(); }
  [[nodiscard]] const CpuInfo& cpu(CpuId c) const { return cpus_[c]; }
  [[nodiscard]] size_t nr_cores() const { return cores_.size(); }
  [[nodiscard]] size_t nr_clusters() const { return clusters_.size(); }
  [[nodiscard]] size_t nr_llcs() const { return llcs_.size(); }
  [[nodiscard]] size_t nr_nodes() const { return nodes_.size(); }
  [[nodiscard]] size_t nr_packages() const { return packages_.size(); }

  [[nodiscard]] const CpuMask& core_cpus(CoreId i) const { return cores_[i.index()]; }
  [[nodiscard]] const CpuMask& cluster_cpus(ClusterId i) const { return clusters_[i.index()]; }
  [[nodiscard]] const CpuMask& llc_cpus(LlcId i) const { return llcs_[i.index()]; }
  [[nodiscard]] const CpuMask& node_cpus(NodeId i) const { return nodes_[i.index()]; }
  [[nodiscard]] const CpuMask& package_cpus(PackageId i) const { return packages_[i.index()]; }
  [[nodiscard]] bool has_smt() const { return nr_cores() != nr_cpus(); }

  // ACPI SLIT distance. Until set: 10 on the diagonal, 12 within a package, 21 beyond.
  [[nodiscard]] uint32_t node_distance(NodeId a, NodeId b) const {
    return distance_[a.index() * nodes_.size() + b.index()];
  }
  // Square matrix, row by row, of nr_nodes() squared values: 10 on the diagonal, 10..254 off it
  // (255 means "unreachable" to the kernel), symmetric.
  Status set_node_distances(const std::vector<uint32_t>& matrix);

 private:
  friend class TopologyBuilder;
  IdVector<CpuId, CpuInfo> cpus_;
  std::vector<CpuMask> cores_, clusters_, llcs_, nodes_, packages_;
  std::vector<uint32_t> distance_;
};

// How far apart two CPUs are, for costs and tables.
enum class Distance : uint8_t {
  same_cpu,
  smt,     // another thread of the core
  llc,     // another core under the same last-level cache
  node,    // another last-level cache of the node
  remote,  // another node
};
Distance distance(const Topology& t, CpuId a, CpuId b);
std::string_view to_string(Distance d);

}  // namespace runqlab::machine
