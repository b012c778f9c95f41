// base/id_vector.h — a vector that only its own kind of id can index.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"

namespace runqlab {

template <class IdT, class T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(size_t n) : v_(n) {}
  IdVector(size_t n, const T& init) : v_(n, init) {}

  T& operator[](IdT id) {
    RQL_AUDIT(id.index() < v_.size());
    return v_[id.index()];
  }
  const T& operator[](IdT id) const {
    RQL_AUDIT(id.index() < v_.size());
    return v_[id.index()];
  }

  template <class... A>
  IdT emplace_back(A&&... a) {
    v_.emplace_back(std::forward<A>(a)...);
    return IdT::of(v_.size() - 1);
  }
  void push_back(T t) { v_.push_back(std::move(t)); }
  void resize(size_t n) { v_.resize(n); }
  void reserve(size_t n) { v_.reserve(n); }

  [[nodiscard]] size_t size() const { return v_.size(); }
  [[nodiscard]] bool empty() const { return v_.empty(); }
  [[nodiscard]] bool contains(IdT id) const { return id.index() < v_.size(); }
  auto begin() { return v_.begin(); }
  auto end() { return v_.end(); }
  auto begin() const { return v_.begin(); }
  auto end() const { return v_.end(); }

 private:
  std::vector<T> v_;
};

}  // namespace runqlab
