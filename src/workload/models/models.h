// workload/models/models.h — the built-in workloads by name.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "workload/api/workload.h"
#include "workload/models/params.h"

namespace runqlab::workload {

struct ModelInfo {
  std::string_view name;
  std::string_view models;  // what it stands for
  std::string_view leaves_out;
  std::span<const ParamInfo> params;
  Result<Workload> (*build)(const Params&, size_t nr_cpus);
};

std::span<const ModelInfo> model_table();

// "NAME" or "NAME:param=value,…". Errors: unknown name or parameter (nearest in the hint), value
// out of range, more tasks than fit.
Result<Workload> build_workload(std::string_view spec, size_t nr_cpus);

// The models, one file each.
extern const ModelInfo kPipeModel;
extern const ModelInfo kHogsModel;

}  // namespace runqlab::workload
