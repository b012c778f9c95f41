#include "base/cpu_mask.h"

namespace runqlab {

std::string CpuMask::to_list() const {
  std::string s;
  for (CpuId c = first(); c.valid();) {
    size_t last = c.index();
    while (last + 1 < nr_cpus_ && test(CpuId::of(last + 1))) ++last;
    if (!s.empty()) s += ',';
    s += std::to_string(c.index());
    if (last != c.index()) s += '-' + std::to_string(last);
    c = next(last + 1);
  }
  return s;
}

}  // namespace runqlab
