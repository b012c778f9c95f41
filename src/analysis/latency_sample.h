// analysis/latency_sample.h — a distribution of latencies: exact while it is small, then a
// log-linear histogram (64 steps an octave, so within 1.6 %). Memory is bounded whatever the run's
// length.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/types.h"

namespace runqlab::analysis {

class LatencySample {
 public:
  void add(Duration d) {
    const int64_t ns = std::max<int64_t>(d.ns(), 0);
    max_ = std::max(max_, ns);
    ++count_;
    if (buckets_.empty()) {
      exact_.push_back(ns);
      sorted_ = false;
      if (exact_.size() > kExact) fold();
    } else {
      bucket(ns) += 1;
    }
  }

  void merge(const LatencySample& o) {
    for (const int64_t ns : o.exact_) add(Duration::nanos(ns));
    if (o.buckets_.empty()) return;
    if (buckets_.empty()) fold();
    if (buckets_.size() < o.buckets_.size()) buckets_.resize(o.buckets_.size());
    for (size_t i = 0; i < o.buckets_.size(); ++i) buckets_[i] += o.buckets_[i];
    count_ += o.count_;
    max_ = std::max(max_, o.max_);
  }

  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] Duration max() const { return Duration::nanos(max_); }

  // The value at rank floor(count * permille / 1000), as perf and the recordings' own figures
  // count; 0 when there is none. A histogram answers with its bucket's lower edge.
  [[nodiscard]] Duration permille(uint64_t p) const {
    if (count_ == 0) return {};
    const uint64_t rank = std::min(count_ - 1, count_ * p / 1000);
    if (buckets_.empty()) {
      if (!sorted_) std::sort(exact_.begin(), exact_.end());
      sorted_ = true;
      return Duration::nanos(exact_[rank]);
    }
    uint64_t seen = 0;
    for (size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen > rank) return Duration::nanos(lower_edge(i));
    }
    return max();
  }

 private:
  static constexpr size_t kExact = size_t{1} << 13;
  static constexpr int kSubBits = 6;

  static size_t index_of(int64_t ns) {
    const auto v = static_cast<uint64_t>(ns);
    if (v < (uint64_t{1} << kSubBits)) return v;
    const int shift = static_cast<int>(std::bit_width(v)) - 1 - kSubBits;
    return (static_cast<size_t>(shift + 1) << kSubBits) + (v >> shift) - (size_t{1} << kSubBits);
  }
  static int64_t lower_edge(size_t i) {
    if (i < (size_t{1} << kSubBits)) return static_cast<int64_t>(i);
    const size_t shift = (i >> kSubBits) - 1;
    const size_t within = (i & ((size_t{1} << kSubBits) - 1)) + (size_t{1} << kSubBits);
    return static_cast<int64_t>(within << shift);
  }
  uint64_t& bucket(int64_t ns) {
    const size_t i = index_of(ns);
    if (i >= buckets_.size()) buckets_.resize(i + 1);
    return buckets_[i];
  }
  void fold() {
    buckets_.resize(1);
    for (const int64_t ns : exact_) bucket(ns) += 1;
    exact_.clear();
    exact_.shrink_to_fit();
  }

  mutable std::vector<int64_t> exact_;
  mutable bool sorted_ = true;
  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  int64_t max_ = 0;
};

}  // namespace runqlab::analysis
