// base/string_pool.h — interned text: equal text gives the same small id, in order of first use.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/types.h"

namespace runqlab {

using StrId = Id<struct StrTag, uint32_t>;

class StringPool {
 public:
  StrId intern(std::string_view text) {
    const auto it = ids_.find(text);
    if (it != ids_.end()) return it->second;
    const StrId id = StrId::of(texts_.size());
    texts_.emplace_back(text);
    ids_.emplace(texts_.back(), id);
    return id;
  }
  [[nodiscard]] const std::string& text(StrId id) const { return texts_[id.index()]; }
  [[nodiscard]] size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // never moves: the keys below point into it
  std::unordered_map<std::string_view, StrId> ids_;
};

}  // namespace runqlab
