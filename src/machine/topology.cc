#include "machine/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "machine/topology_synthetic.h"

namespace runqlab::machine {
namespace {

constexpr uint32_t kLocalDistance = 10;    // ACPI: a node to itself
constexpr uint32_t kPackageDistance = 12;  // usual between nodes of one socket
constexpr uint32_t kRemoteDistance = 21;   // usual between two sockets
constexpr uint32_t kUnreachable = 255;     // ACPI

struct HwlocDelete {
  void operator()(hwloc_topology* t) const { hwloc_topology_destroy(t); }
};
using HwlocTree = std::unique_ptr<hwloc_topology, HwlocDelete>;

// What one PU belongs to; objects stand for what they hold, null for none.
struct Place {
  hwloc_obj_t pu = nullptr;
  hwloc_obj_t core = nullptr;
  hwloc_obj_t cluster = nullptr;
  hwloc_obj_t llc = nullptr;
  hwloc_obj_t node = nullptr;
  hwloc_obj_t package = nullptr;
  uint32_t smt = 0;  // threads of its core that come before in the tree
  // CPU numbers follow this; the last part is the order of the tree.
  std::tuple<uint32_t, uint32_t, size_t> key{};
};

size_t nr_pus(hwloc_obj_t obj) { return static_cast<size_t>(hwloc_bitmap_weight(obj->cpuset)); }

// Whether `a` holds more PUs than `b`; both are ancestors of one PU, so one includes the other.
bool wider(hwloc_obj_t a, hwloc_obj_t b) { return nr_pus(a) > nr_pus(b); }

Place place_of(hwloc_obj_t pu, hwloc_obj_t machine) {
  Place p{.pu = pu, .core = pu, .package = machine};
  for (hwloc_obj_t o = pu; o != nullptr; o = o->parent) {
    if (o->type == HWLOC_OBJ_CORE) p.core = o;
    if (o->type == HWLOC_OBJ_PACKAGE) p.package = o;
    if (hwloc_obj_type_is_dcache(o->type) != 0) p.llc = o;  // the last one seen is the outermost
    // The first node attached on the way up is the local one.
    if (p.node == nullptr && o->memory_arity != 0) p.node = o->memory_first_child;
  }
  // Memory-side caches stand between a memory child and its node.
  while (p.node != nullptr && p.node->type != HWLOC_OBJ_NUMANODE) {
    p.node = p.node->memory_first_child;
  }
  if (p.llc == nullptr || !wider(p.llc, p.core)) p.llc = p.core;
  // The innermost L2, else the innermost group, with several cores and less than the LLC.
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L2CACHE, HWLOC_OBJ_GROUP}) {
    for (hwloc_obj_t o = pu; o != nullptr && p.cluster == nullptr; o = o->parent) {
      if (o->type == type && wider(o, p.core) && wider(p.llc, o)) p.cluster = o;
    }
  }
  return p;
}

Error topology_error(std::string message, std::string hint) {
  return Error{.message = std::move(message),
               .file = "(topology)",
               .line = 1,
               .column = 1,
               .hint = std::move(hint)};
}

}  // namespace

class TopologyBuilder {
 public:
  TopologyBuilder(hwloc_topology_t tree, const SyntheticShape& shape)
      : tree_(tree), shape_(shape) {}

  Result<Topology> build(CpuNumbering numbering) {
    if (Status s = read_places(); !s) return s.error();
    if (Status s = number(numbering); !s) return s.error();
    fill();
    return std::move(out_);
  }

 private:
  // PUs in the order of the tree: package by package, core by core.
  Status read_places() {
    const int n = hwloc_get_nbobjs_by_type(tree_, HWLOC_OBJ_PU);
    // hwloc drops PUs whose os_index another one already has.
    if (n < 1 || static_cast<size_t>(n) != shape_.nr_cpus) {
      return topology_error("two CPUs have the same number", "check indexes=");
    }
    const hwloc_obj_t machine = hwloc_get_root_obj(tree_);
    std::map<hwloc_obj_t, uint32_t> threads;  // looked up only, never walked
    for (int i = 0; i < n; ++i) {
      Place p =
          place_of(hwloc_get_obj_by_type(tree_, HWLOC_OBJ_PU, static_cast<unsigned>(i)), machine);
      p.smt = threads[p.core]++;
      if (!places_.empty() && places_.back().core == p.core &&
          (places_.back().package != p.package || places_.back().node != p.node)) {
        return topology_error("a core lies in two packages or nodes",
                              "order the levels from the outermost: pack, numa, l3, core, pu");
      }
      places_.push_back(p);
    }
    return Ok{};
  }

  // Sorts places_ by CPU number.
  Status number(CpuNumbering numbering) {
    std::map<std::pair<hwloc_obj_t, uint32_t>, uint32_t> seen;  // by node and thread; never walked
    for (size_t i = 0; i < places_.size(); ++i) {
      Place& p = places_[i];
      switch (numbering) {
        case CpuNumbering::as_given:
          p.key = {p.pu->os_index, 0, i};
          break;
        case CpuNumbering::threads_last:
          p.key = {p.smt, 0, i};
          break;
        case CpuNumbering::alternate_nodes:
          // The n-th core of every node, then the next of every node.
          p.key = {p.smt, seen[{p.node, p.smt}]++, i};
          break;
      }
    }
    std::sort(places_.begin(), places_.end(),
              [](const Place& a, const Place& b) { return a.key < b.key; });
    return numbering == CpuNumbering::as_given ? check_given_numbers() : Ok{};
  }

  Status check_given_numbers() const {
    std::string identity;  // 0,1,2,…
    bool is_identity = true;
    for (size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].pu->os_index != i) {
        return topology_error("CPU numbers must be 0.." + std::to_string(places_.size() - 1) +
                                  ", but there is no CPU " + std::to_string(i),
                              "check indexes=");
      }
      is_identity = is_identity && std::get<2>(places_[i].key) == i;
      identity += (i == 0 ? "" : ",") + std::to_string(i);
    }
    // hwloc ignores an index list that it does not understand.
    if (is_identity && !shape_.pu_indexes.empty() && shape_.pu_indexes != identity) {
      return topology_error("indexes= of the PU level has no effect",
                            "write a list of all CPU numbers: indexes=0,2,1,3");
    }
    return Ok{};
  }

  // Index of `obj` among those seen so far (looked up only: addresses decide nothing), with CPU `c`
  // added to its mask.
  template <class IdT>
  IdT add(std::map<hwloc_obj_t, IdT>& ids, std::vector<CpuMask>& masks, hwloc_obj_t obj, CpuId c) {
    const auto [it, is_new] = ids.try_emplace(obj, IdT::of(masks.size()));
    if (is_new) masks.emplace_back(places_.size());
    masks[it->second.index()].set(c);
    return it->second;
  }

  void fill() {
    std::map<hwloc_obj_t, CoreId> cores;
    std::map<hwloc_obj_t, ClusterId> clusters;
    std::map<hwloc_obj_t, LlcId> llcs;
    std::map<hwloc_obj_t, NodeId> nodes;
    std::map<hwloc_obj_t, PackageId> packages;
    for (size_t i = 0; i < places_.size(); ++i) {
      const Place& p = places_[i];
      const CpuId c = CpuId::of(i);
      CpuInfo info;
      info.core = add(cores, out_.cores_, p.core, c);
      info.smt = static_cast<uint16_t>(out_.cores_[info.core.index()].count() - 1);
      if (p.cluster != nullptr) info.cluster = add(clusters, out_.clusters_, p.cluster, c);
      info.llc = add(llcs, out_.llcs_, p.llc, c);
      info.node = add(nodes, out_.nodes_, p.node, c);
      info.package = add(packages, out_.packages_, p.package, c);
      out_.cpus_.push_back(info);
    }
    fill_distances();
  }

  void fill_distances() {
    const size_t n = out_.nodes_.size();
    const auto package_of = [&](size_t node) {
      return out_.cpus_[out_.nodes_[node].first()].package;
    };
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = 0; b < n; ++b) {
        const bool same_package = package_of(a) == package_of(b);
        out_.distance_.push_back(a == b         ? kLocalDistance
                                 : same_package ? kPackageDistance
                                                : kRemoteDistance);
      }
    }
  }

  hwloc_topology_t tree_;
  const SyntheticShape& shape_;
  std::vector<Place> places_;
  Topology out_;
};

Result<Topology> Topology::from_synthetic(std::string_view text, CpuNumbering numbering) {
  const Result<SyntheticShape> shape = check_synthetic(text);
  if (!shape) return shape.error();

  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return topology_error("hwloc cannot start", "");
  const HwlocTree tree(raw);
  const std::string terminated(text);
  if (hwloc_topology_set_synthetic(tree.get(), terminated.c_str()) != 0 ||
      hwloc_topology_load(tree.get()) != 0) {
    return topology_error("hwloc does not accept this topology",
                          "`lstopo -i \"" + terminated + "\"` tries it alone");
  }
  return TopologyBuilder(tree.get(), *shape).build(numbering);
}

Status Topology::set_node_distances(const std::vector<uint32_t>& matrix) {
  const size_t n = nodes_.size();
  const auto wrong = [](std::string what) { return Error{.message = std::move(what)}; };
  if (matrix.size() != n * n) {
    return wrong("node distances need " + std::to_string(n) + " rows of " + std::to_string(n) +
                 " values, one per NUMA node");
  }
  for (size_t a = 0; a < n; ++a) {
    for (size_t b = 0; b < n; ++b) {
      const uint32_t d = matrix[a * n + b];
      const std::string where = " from node " + std::to_string(a) + " to " + std::to_string(b);
      if (a == b && d != kLocalDistance) return wrong("the distance" + where + " must be 10");
      if (d < kLocalDistance || d >= kUnreachable) {
        return wrong("the distance" + where + " must lie in 10..254");
      }
      if (d != matrix[b * n + a]) return wrong("the distance" + where + " differs from that back");
    }
  }
  distance_ = matrix;
  return Ok{};
}

Distance distance(const Topology& t, CpuId a, CpuId b) {
  if (a == b) return Distance::same_cpu;
  const CpuInfo& x = t.cpu(a);
  const CpuInfo& y = t.cpu(b);
  if (x.core == y.core) return Distance::smt;
  if (x.llc == y.llc) return Distance::llc;
  if (x.node == y.node) return Distance::node;
  return Distance::remote;
}

std::string_view to_string(Distance d) {
  switch (d) {
    case Distance::same_cpu:
      return "same CPU";
    case Distance::smt:
      return "SMT sibling";
    case Distance::llc:
      return "same LLC";
    case Distance::node:
      return "same node";
    case Distance::remote:
      return "other node";
  }
  return "?";
}

}  // namespace runqlab::machine
