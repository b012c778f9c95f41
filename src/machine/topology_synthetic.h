// machine/topology_synthetic.h — a first look at an hwloc synthetic description: hwloc answers
// every mistake with EINVAL, so what can be named is named here, with its place in the text. Syntax
// (hwloc 2): blank-separated levels from the outermost to the PUs, each "type:arity", optionally
// with "(attributes)"; "[type]" attaches memory to the level before it.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace runqlab::machine {

struct SyntheticShape {
  size_t nr_cpus = 0;           // product of all arities
  std::string_view pu_indexes;  // value of indexes= of the PU level; empty without one
};

// Errors carry line 1 and the column within `text`.
Result<SyntheticShape> check_synthetic(std::string_view text);

}  // namespace runqlab::machine
