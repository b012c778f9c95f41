#include "workload/models/models.h"

#include <array>

#include "base/hash.h"
#include "base/suggest.h"

namespace runqlab::workload {

std::span<const ModelInfo> model_table() {
  static const std::array<ModelInfo, 2> kTable = {kPipeModel, kHogsModel};
  return kTable;
}

Result<Workload> build_workload(std::string_view spec, size_t nr_cpus) {
  const size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  std::vector<std::string_view> names;
  for (const ModelInfo& m : model_table()) {
    names.push_back(m.name);
    if (m.name != name) continue;
    auto params = Params::parse(
        colon == std::string_view::npos ? std::string_view() : spec.substr(colon + 1), m.params);
    if (!params) return params.error();
    auto w = m.build(*params, nr_cpus);
    if (w) {
      w->name = std::string(spec);
      Hash64 h;
      h.add(spec);
      w->content_hash = h.value();
    }
    return w;
  }
  return Error{.message = "unknown workload",
               .token = std::string(spec),
               .hint = did_you_mean(name, names, "runqlab list workloads")};
}

}  // namespace runqlab::workload
