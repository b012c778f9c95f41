// sched/state/features.h — the switches of the kernel model as plain booleans, constant for a run.
// Hook sites read `if (feat.name …)`; the table gives names, meaning, source and history.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace runqlab::sched {

// A kernel release; patch is -1 for "the x.y release itself, whatever its patch level".
struct Version {
  int major = 0;
  int minor = 0;
  int patch = -1;

  constexpr auto operator<=>(const Version&) const = default;
  [[nodiscard]] std::string to_string() const;
};

struct Features {
#define RQL_FEATURE(member, name, what, source, ...) bool member = false;
#include "sched/state/features.def"
#undef RQL_FEATURE
};

// The default of a feature changes to `on` in release `version`.
struct FeatureChange {
  Version version{};
  bool on = false;
};

struct FeatureInfo {
  std::string_view name;
  std::string_view what;
  std::string_view source;
  bool Features::* field;
  std::array<FeatureChange, 2> changes;  // unused ones have version 0.0

  // The default in a release.
  [[nodiscard]] bool in(Version v) const;
  // First release in which it was on; 0.0 when it never was by default.
  [[nodiscard]] Version first_on() const;
};

std::span<const FeatureInfo> feature_table();
// Null when there is no feature of this name (without NO_).
const FeatureInfo* find_feature(std::string_view name);

// Every feature at its default of release `v`.
Features features_of(Version v);

}  // namespace runqlab::sched
