// base/rng.h — randomness by named streams: a stream depends on the run's seed, its name and its
// index only, so that arms A and B of a comparison see the same arrivals (common random numbers).
// Own distributions: the same numbers on every compiler and C library.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/hash.h"

namespace runqlab {

// splitmix64: 64-bit state, period 2^64, passes BigCrush.
class RandomStream {
 public:
  explicit RandomStream(uint64_t state) : state_(state) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound), without modulo bias. bound > 0.
  uint64_t below(uint64_t bound) {
    const uint64_t threshold = (0 - bound) % bound;
    for (;;) {
      const unsigned __int128 m = static_cast<unsigned __int128>(next()) * bound;
      if (static_cast<uint64_t>(m) >= threshold) return static_cast<uint64_t>(m >> 64);
    }
  }

  // Uniform in [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1));
  }

 private:
  uint64_t state_;
};

class Rng {
 public:
  explicit Rng(uint64_t seed) : seed_(seed) {}

  [[nodiscard]] RandomStream stream(std::string_view name, uint64_t index = 0) const {
    Hash64 h(seed_);
    h.add(name);
    h.add(index);
    return RandomStream(h.value());
  }

 private:
  uint64_t seed_;
};

}  // namespace runqlab
