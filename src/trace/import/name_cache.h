// trace/import/name_cache.h — StringPool::intern without its hash for the names a recording
// repeats: a task's name has at most 15 characters, so two words hold it.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "base/string_pool.h"

namespace runqlab::trace {

class NameCache {
 public:
  explicit NameCache(StringPool& pool) : pool_(pool) {}

  StrId intern(std::string_view text) {
    if (text.empty() || text.size() > kMax) return pool_.intern(text);
    uint64_t words[2] = {0, 0};
    std::memcpy(words, text.data(), text.size());
    // The length tells "a" from "a\0".
    Slot& slot = slots_[mix64(words[0] ^ (words[1] * 3) ^ text.size()) % kSlots];
    if (slot.length != text.size() || slot.low != words[0] || slot.high != words[1]) {
      slot = {words[0], words[1], text.size(), pool_.intern(text)};
    }
    return slot.id;
  }

 private:
  static constexpr size_t kMax = 16;
  static constexpr size_t kSlots = 1024;
  struct Slot {
    uint64_t low = 0, high = 0;
    size_t length = 0;  // 0: never used
    StrId id{};
  };
  StringPool& pool_;
  std::array<Slot, kSlots> slots_{};
};

}  // namespace runqlab::trace
