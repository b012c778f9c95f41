// base/cpu_mask.h — a set of CPUs, sized once for the machine; iteration is in ascending order.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/types.h"

namespace runqlab {

class CpuMask {
 public:
  CpuMask() = default;
  // No CPU of `nr_cpus`.
  explicit CpuMask(size_t nr_cpus) : nr_cpus_(nr_cpus), words_((nr_cpus + 63) / 64) {}
  static CpuMask all(size_t nr_cpus) {
    CpuMask m(nr_cpus);
    for (size_t i = 0; i < nr_cpus; ++i) m.set(CpuId::of(i));
    return m;
  }

  [[nodiscard]] size_t nr_cpus() const { return nr_cpus_; }
  [[nodiscard]] bool test(CpuId c) const {
    RQL_AUDIT(c.index() < nr_cpus_);
    return (words_[c.index() / 64] >> (c.index() % 64)) & 1;
  }
  void set(CpuId c) {
    RQL_AUDIT(c.index() < nr_cpus_);
    words_[c.index() / 64] |= uint64_t{1} << (c.index() % 64);
  }
  void clear(CpuId c) {
    RQL_AUDIT(c.index() < nr_cpus_);
    words_[c.index() / 64] &= ~(uint64_t{1} << (c.index() % 64));
  }

  [[nodiscard]] size_t count() const {
    size_t n = 0;
    for (const uint64_t w : words_) n += static_cast<size_t>(std::popcount(w));
    return n;
  }
  [[nodiscard]] bool empty() const {
    for (const uint64_t w : words_) {
      if (w != 0) return false;
    }
    return true;
  }

  // First CPU >= from, or none.
  [[nodiscard]] CpuId next(size_t from) const {
    if (from >= nr_cpus_) return CpuId::none();
    size_t i = from / 64;
    uint64_t w = words_[i] & (~uint64_t{0} << (from % 64));
    while (w == 0) {
      if (++i == words_.size()) return CpuId::none();
      w = words_[i];
    }
    return CpuId::of(i * 64 + static_cast<size_t>(std::countr_zero(w)));
  }
  [[nodiscard]] CpuId first() const { return next(0); }

  CpuMask& operator&=(const CpuMask& o) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= o.words_[i];
    return *this;
  }
  CpuMask& operator|=(const CpuMask& o) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= o.words_[i];
    return *this;
  }
  [[nodiscard]] bool intersects(const CpuMask& o) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & o.words_[i]) != 0) return true;
    }
    return false;
  }
  [[nodiscard]] bool subset_of(const CpuMask& o) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & ~o.words_[i]) != 0) return false;
    }
    return true;
  }
  bool operator==(const CpuMask&) const = default;

  // Kernel list format: "0-3,8"; "" for none.
  [[nodiscard]] std::string to_list() const;

  class iterator {
   public:
    using value_type = CpuId;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    iterator(const CpuMask* m, CpuId c) : m_(m), c_(c) {}
    CpuId operator*() const { return c_; }
    iterator& operator++() {
      c_ = m_->next(c_.index() + 1);
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++*this;
      return old;
    }
    bool operator==(const iterator& o) const { return c_ == o.c_; }

   private:
    const CpuMask* m_ = nullptr;
    CpuId c_ = CpuId::none();
  };
  [[nodiscard]] iterator begin() const { return {this, first()}; }
  [[nodiscard]] iterator end() const { return {this, CpuId::none()}; }

 private:
  size_t nr_cpus_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace runqlab
