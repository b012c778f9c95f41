// sched/domain_builder.h — scheduling domains of a machine as Linux builds them (FAIR.md E.1).
#pragma once

#include "machine/topology.h"
#include "sched/state/domain.h"

namespace runqlab::sched {

Domains build_domains(const machine::Topology& topology);

}  // namespace runqlab::sched
