// sched/state/load_weight.h — weights and the fixed-point division by a weight (FAIR.md A.1, A.2).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/check.h"

namespace runqlab::sched {

// Weights are stored times 1024; the weight of nice 0 is 1024 before scaling.
constexpr int kWeightShift = 10;
constexpr uint64_t kNice0Weight = 1024;
constexpr uint64_t kNice0Stored = kNice0Weight << kWeightShift;
constexpr uint64_t kIdlePolicyWeight = 3;

struct LoadWeight {
  uint64_t stored = 0;   // scaled up
  uint32_t inverse = 0;  // floor((2^32 - 1) / scaled down), 0 = not computed yet

  bool operator==(const LoadWeight&) const = default;
};

// At least 2 for any stored value but 0.
constexpr uint64_t scaled_down(uint64_t stored) {
  if (stored == 0) return 0;
  const uint64_t w = stored >> kWeightShift;
  return w < 2 ? 2 : w;
}

constexpr uint32_t inverse_of(uint64_t stored) {
  const uint64_t w = scaled_down(stored);
  constexpr uint64_t kMax = 0xffffffff;
  if (w == 0) return static_cast<uint32_t>(kMax);
  if (w >= kMax) return 1;
  return static_cast<uint32_t>(kMax / w);
}

// Nice -20..19 (index 0..39).
inline constexpr std::array<uint32_t, 40> kNiceWeight = {
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906,  3121,  2501,  1991,  1586,  1277,  1024,  820,   655,   526,   423,  335,  272,  215,
    172,   137,   110,   87,    70,    56,    45,    36,    29,    23,    18,   15};
// Tasks take the inverse from this table; it differs from inverse_of() by 1 for some nices.
inline constexpr std::array<uint32_t, 40> kNiceInverse = {
    48388,    59856,    76040,    92818,     118348,    147320,    184698,    229616,
    287308,   360437,   449829,   563644,    704093,    875809,    1099582,   1376151,
    1717300,  2157191,  2708050,  3363326,   4194304,   5237765,   6557202,   8165337,
    10153587, 12820798, 15790321, 19976592,  24970740,  31350126,  39045157,  49367440,
    61356676, 76695844, 95443717, 119304647, 148102320, 186737708, 238609294, 286331153};

constexpr LoadWeight nice_weight(int nice) {
  const auto i = static_cast<size_t>(nice + 20);
  return {uint64_t{kNiceWeight[i]} << kWeightShift, kNiceInverse[i]};
}
constexpr LoadWeight idle_policy_weight() {
  return {kIdlePolicyWeight << kWeightShift, 1431655765};
}

// delta * weight / lw in the kernel's fixed point; equal shares come out slightly low. `weight` is
// stored (scaled up). Exact for the vectors of calc_delta.csv.
constexpr uint64_t calc_delta(uint64_t delta, uint64_t weight, LoadWeight lw) {
  uint64_t fact = scaled_down(weight);
  int shift = 32;
  const auto fold = [&] {
    if (const auto high = static_cast<uint32_t>(fact >> 32); high != 0) {
      const int fs = std::bit_width(high);
      shift -= fs;
      fact >>= fs;
    }
  };
  fold();
  const uint32_t inv = lw.inverse != 0 ? lw.inverse : inverse_of(lw.stored);
  fact = static_cast<uint64_t>(static_cast<uint32_t>(fact)) * inv;
  fold();
  const auto product = static_cast<unsigned __int128>(delta) * static_cast<uint32_t>(fact);
  return static_cast<uint64_t>(product >> shift);
}

// Wall to virtual time for an entity of this weight: delta itself at nice 0.
constexpr int64_t calc_delta_fair(int64_t delta, const LoadWeight& lw) {
  if (lw.stored == kNice0Stored) return delta;
  return static_cast<int64_t>(calc_delta(static_cast<uint64_t>(delta), kNice0Stored, lw));
}

}  // namespace runqlab::sched
