#include "analysis/scenario.h"

#include "base/hash.h"

namespace runqlab::analysis {

uint64_t scenario_hash(const machine::MachineSpec& m, const sched::KernelConfig& kernel,
                       const Workload& workload, const machine::Tracing& tracing, uint64_t seed) {
  Hash64 h;
  const machine::Topology& t = m.topology;
  for (size_t i = 0; i < t.nr_cpus(); ++i) {
    const machine::CpuInfo& c = t.cpu(CpuId::of(i));
    h.add(static_cast<uint64_t>(c.core.value()) << 48 | static_cast<uint64_t>(c.llc.value()) << 32 |
          static_cast<uint64_t>(c.node.value()) << 16 | c.package.value());
    h.add(static_cast<uint64_t>(c.cluster.value()) << 32 | c.capacity);
  }
  for (size_t a = 0; a < t.nr_nodes(); ++a) {
    for (size_t b = 0; b < t.nr_nodes(); ++b) {
      h.add(t.node_distance(machine::NodeId::of(a), machine::NodeId::of(b)));
    }
  }
  for (const machine::CostInfo& c : machine::cost_table()) {
    h.add(static_cast<uint64_t>((m.costs.*c.field).ns()));
  }
  h.add(m.hz);
  h.add(m.idle_polls ? 1 : 0);
  h.add(m.guest.gone_after ? static_cast<uint64_t>(m.guest.gone_after->ns()) + 1 : 0);
  h.add(m.guest.pack_below);
  h.add(m.guest.late_exit.size());
  for (const auto& e : m.guest.late_exit) {
    h.add(static_cast<uint64_t>(e.rest.ns()));
    h.add(static_cast<uint64_t>(e.exit.ns()));
    h.add(static_cast<uint64_t>(e.cold.ns()));
  }
  h.add(kernel.identity());
  h.add(workload.content_hash);
  for (const uint8_t n : tracing.events) h.add(n);
  h.add(tracing.runtime_events);
  h.add(seed);
  return h.value();
}

}  // namespace runqlab::analysis
