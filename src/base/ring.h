// base/ring.h — a first-in-first-out queue that keeps its memory: it allocates only to grow.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"

namespace runqlab {

template <class T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] size_t size() const { return size_; }
  T& front() { return at(0); }
  T& back() { return at(size_ - 1); }
  const T& back() const { return const_cast<Ring*>(this)->back(); }

  void push_back(T value) {
    if (size_ == slots_.size()) grow();
    ++size_;
    back() = std::move(value);
  }
  void pop_front() {
    RQL_AUDIT(size_ != 0);
    first_ = (first_ + 1) & (slots_.size() - 1);
    --size_;
  }

 private:
  T& at(size_t i) {
    RQL_AUDIT(i < size_);
    return slots_[(first_ + i) & (slots_.size() - 1)];
  }
  // The number of slots is a power of two.
  void grow() {
    std::vector<T> larger(slots_.empty() ? 2 : 2 * slots_.size());
    for (size_t i = 0; i < size_; ++i) larger[i] = std::move(at(i));
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_;
  size_t first_ = 0;
  size_t size_ = 0;
};

}  // namespace runqlab
