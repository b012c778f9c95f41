#include "workload/models/params.h"

#include "base/numbers.h"
#include "base/suggest.h"

namespace runqlab::workload {
namespace {

Error out_of_range(std::string_view name, std::string_view value, const std::string& low,
                   const std::string& high) {
  return {.message = std::string(name) + " takes a value from " + low + " to " + high,
          .token = std::string(value)};
}

}  // namespace

Result<Params> Params::parse(std::string_view text, std::span<const ParamInfo> known) {
  Params p;
  std::vector<std::string_view> names;
  for (const ParamInfo& k : known) {
    p.values_.push_back({k.name, std::string(k.default_value)});
    names.push_back(k.name);
  }
  std::vector<bool> given(known.size());
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const size_t eq = item.find('=');
    const std::string_view name = item.substr(0, eq);
    size_t i = 0;
    while (i < known.size() && known[i].name != name) ++i;
    if (i == known.size()) {
      return Error{.message = "unknown workload parameter",
                   .token = std::string(item),
                   .hint = did_you_mean(name, names)};
    }
    if (eq == std::string_view::npos || eq + 1 == item.size()) {
      return Error{.message = "a workload parameter needs a value",
                   .token = std::string(item),
                   .hint = "write " + std::string(name) + "=" + p.values_[i].value};
    }
    if (given[i]) {
      return Error{.message = "a workload parameter was given twice", .token = std::string(item)};
    }
    given[i] = true;
    p.values_[i].value = std::string(item.substr(eq + 1));
  }
  return p;
}

std::string_view Params::text(std::string_view name) const {
  for (const Value& v : values_) {
    if (v.name == name) return v.value;
  }
  RQL_CHECK(false);
  return {};
}

Result<int64_t> Params::integer(std::string_view name, int64_t low, int64_t high) const {
  const auto v = parse_i64(text(name));
  if (!v || *v < low || *v > high) {
    return out_of_range(name, text(name), std::to_string(low), std::to_string(high));
  }
  return *v;
}

Result<std::vector<int64_t>> Params::integers(std::string_view name, int64_t low,
                                              int64_t high) const {
  std::vector<int64_t> out;
  std::string_view rest = text(name);
  for (;;) {
    const size_t slash = rest.find('/');
    const auto v = parse_i64(rest.substr(0, slash));
    if (!v || *v < low || *v > high) {
      return out_of_range(name, rest.substr(0, slash), std::to_string(low), std::to_string(high));
    }
    out.push_back(*v);
    if (slash == std::string_view::npos) return out;
    rest.remove_prefix(slash + 1);
  }
}

Result<Duration> Params::duration(std::string_view name, Duration low, Duration high) const {
  const auto v = parse_duration(text(name));
  if (!v || *v < low || *v > high) {
    return out_of_range(name, text(name), std::to_string(low.ns()) + "ns",
                        std::to_string(high.ns()) + "ns");
  }
  return *v;
}

}  // namespace runqlab::workload
