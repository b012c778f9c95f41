// base/hash.h — a 64-bit running hash with a fixed definition: the same bytes give the same value
// on every machine. For state hashes and named random streams; not for untrusted keys.
#pragma once

#include <cstdint>
#include <string_view>

namespace runqlab {

// Finaliser with full avalanche (the murmur3 constants).
constexpr uint64_t mix64(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33;
  return x;
}

class Hash64 {
 public:
  constexpr Hash64() = default;
  constexpr explicit Hash64(uint64_t seed) : h_(seed) {}

  // Order matters; one multiplication per word.
  constexpr void add(uint64_t word) {
    h_ = (h_ ^ word) * 0x9fb21c651e98df25ULL;
    h_ ^= h_ >> 32;
  }
  constexpr void add(std::string_view text) {
    for (const char c : text) add(static_cast<uint64_t>(static_cast<unsigned char>(c)));
    add(text.size());
  }
  [[nodiscard]] constexpr uint64_t value() const { return mix64(h_); }

 private:
  uint64_t h_ = 0x2545f4914f6cdd1dULL;
};

}  // namespace runqlab
