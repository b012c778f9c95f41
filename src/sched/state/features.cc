#include "sched/state/features.h"

namespace runqlab::sched {
namespace {

constexpr FeatureChange since(int major, int minor) { return {{major, minor}, true}; }
constexpr FeatureChange until(int major, int minor) { return {{major, minor}, false}; }

constexpr FeatureInfo kTable[] = {
#define RQL_FEATURE(member, name, what, source, ...) \
  {name, what, source, &Features::member, {__VA_ARGS__}},
#include "sched/state/features.def"
#undef RQL_FEATURE
};

}  // namespace

std::string Version::to_string() const {
  std::string s = std::to_string(major) + '.' + std::to_string(minor);
  if (patch >= 0) s += '.' + std::to_string(patch);
  return s;
}

bool FeatureInfo::in(Version v) const {
  bool on = false;
  for (const FeatureChange& c : changes) {
    if (c.version.major != 0 && Version{v.major, v.minor} >= c.version) on = c.on;
  }
  return on;
}

Version FeatureInfo::first_on() const {
  for (const FeatureChange& c : changes) {
    if (c.on) return c.version;
  }
  return {};
}

std::span<const FeatureInfo> feature_table() { return kTable; }

const FeatureInfo* find_feature(std::string_view name) {
  for (const FeatureInfo& f : kTable) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

Features features_of(Version v) {
  Features f;
  for (const FeatureInfo& info : kTable) f.*info.field = info.in(v);
  return f;
}

}  // namespace runqlab::sched
