// workload/models/params.h — "NAME:param=value,…" as typed parameters with ranges.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace runqlab::workload {

struct ParamInfo {
  std::string_view name;
  std::string_view default_value;
  std::string_view what;  // meaning, unit
};

// The parameters of one workload, each at its default or as the user said.
class Params {
 public:
  // Errors: unknown parameter (nearest names in the hint), one given twice, no '='.
  static Result<Params> parse(std::string_view text, std::span<const ParamInfo> known);

  [[nodiscard]] std::string_view text(std::string_view name) const;
  // Numbers within [low, high].
  Result<int64_t> integer(std::string_view name, int64_t low, int64_t high) const;
  // Numbers separated by '/': "0/5/10".
  Result<std::vector<int64_t>> integers(std::string_view name, int64_t low, int64_t high) const;
  // A duration with a unit (base/numbers.h), within [low, high] ns.
  Result<Duration> duration(std::string_view name, Duration low, Duration high) const;

 private:
  struct Value {
    std::string_view name;
    std::string value;
  };
  std::vector<Value> values_;
};

}  // namespace runqlab::workload
