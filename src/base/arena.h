// base/arena.h — memory that lives as long as one run: allocation is a pointer bump, nothing is
// freed before the arena. For coroutine frames of workload models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace runqlab {

class Arena {
 public:
  void* allocate(size_t bytes) {
    bytes = (bytes + kAlign - 1) & ~(kAlign - 1);
    if (bytes > left_) refill(bytes);
    std::byte* p = next_;
    next_ += bytes;
    left_ -= bytes;
    return p;
  }

 private:
  static constexpr size_t kAlign = alignof(std::max_align_t);
  static constexpr size_t kBlock = 256 * 1024;

  void refill(size_t bytes) {
    const size_t n = bytes > kBlock ? bytes : kBlock;
    blocks_.push_back(std::make_unique<std::byte[]>(n));
    next_ = blocks_.back().get();
    left_ = n;
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace runqlab
