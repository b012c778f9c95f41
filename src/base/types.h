// base/types.h — strong types: points in time, durations and ids that do not mix.
// `SimTime + SimTime`, `time + 5` and `run_queues[task]` do not compile.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace runqlab {

// A length of virtual time in integer nanoseconds. Signed: differences may be negative.
class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration nanos(int64_t n) { return Duration(n); }
  static constexpr Duration micros(int64_t n) { return Duration(n * 1'000); }
  static constexpr Duration millis(int64_t n) { return Duration(n * 1'000'000); }
  static constexpr Duration seconds(int64_t n) { return Duration(n * 1'000'000'000); }

  [[nodiscard]] constexpr int64_t ns() const { return ns_; }

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator-() const { return Duration(-ns_); }
  constexpr Duration operator+(Duration o) const { return Duration(ns_ + o.ns_); }
  constexpr Duration operator-(Duration o) const { return Duration(ns_ - o.ns_); }
  constexpr Duration operator*(int64_t k) const { return Duration(ns_ * k); }
  constexpr Duration operator/(int64_t k) const { return Duration(ns_ / k); }
  constexpr int64_t operator/(Duration o) const { return ns_ / o.ns_; }
  constexpr Duration& operator+=(Duration o) {
    ns_ += o.ns_;
    return *this;
  }
  constexpr Duration& operator-=(Duration o) {
    ns_ -= o.ns_;
    return *this;
  }

 private:
  constexpr explicit Duration(int64_t n) : ns_(n) {}
  int64_t ns_ = 0;
};

// A point on the virtual clock, in nanoseconds since the start of the run.
class SimTime {
 public:
  constexpr SimTime() = default;
  static constexpr SimTime from_ns(int64_t n) { return SimTime(n); }
  static constexpr SimTime max() { return SimTime(std::numeric_limits<int64_t>::max()); }

  [[nodiscard]] constexpr int64_t ns() const { return ns_; }

  constexpr auto operator<=>(const SimTime&) const = default;
  constexpr SimTime operator+(Duration d) const { return SimTime(ns_ + d.ns()); }
  constexpr SimTime operator-(Duration d) const { return SimTime(ns_ - d.ns()); }
  constexpr Duration operator-(SimTime o) const { return Duration::nanos(ns_ - o.ns_); }
  constexpr SimTime& operator+=(Duration d) {
    ns_ += d.ns();
    return *this;
  }

 private:
  constexpr explicit SimTime(int64_t n) : ns_(n) {}
  int64_t ns_ = 0;
};

// An index of one kind of thing. Ids of different kinds do not compare or convert.
template <class Tag, class Rep>
class Id {
 public:
  using rep = Rep;
  constexpr Id() = default;
  constexpr explicit Id(Rep v) : v_(v) {}
  static constexpr Id none() { return Id(); }
  static constexpr Id of(size_t i) { return Id(static_cast<Rep>(i)); }

  [[nodiscard]] constexpr Rep value() const { return v_; }
  [[nodiscard]] constexpr size_t index() const { return v_; }
  [[nodiscard]] constexpr bool valid() const { return v_ != kNone; }

  constexpr auto operator<=>(const Id&) const = default;

 private:
  static constexpr Rep kNone = std::numeric_limits<Rep>::max();
  Rep v_ = kNone;
};

// The most that Linux can be built for (NR_CPUS of x86 and powerpc).
constexpr size_t kMaxCpus = 8192;

using CpuId = Id<struct CpuTag, uint16_t>;    // Linux CPU number
using TaskId = Id<struct TaskTag, uint32_t>;  // index into the run's task table
using LlcId = Id<struct LlcTag, uint16_t>;    // index of a last-level cache
using ObjId = Id<struct ObjTag, uint32_t>;    // a pipe, lock, … of the workload

namespace literals {
constexpr Duration operator""_ns(unsigned long long n) {
  return Duration::nanos(static_cast<int64_t>(n));
}
constexpr Duration operator""_us(unsigned long long n) {
  return Duration::micros(static_cast<int64_t>(n));
}
constexpr Duration operator""_ms(unsigned long long n) {
  return Duration::millis(static_cast<int64_t>(n));
}
constexpr Duration operator""_s(unsigned long long n) {
  return Duration::seconds(static_cast<int64_t>(n));
}
}  // namespace literals

}  // namespace runqlab
