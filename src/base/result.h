// base/result.h — what a user's input can do wrong, as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"

namespace runqlab {

// What went wrong, where, and what to do about it. `file`, `line` and `column` are printed as
// file:line:column; line and column count from 1, 0 means "not known".
struct Error {
  std::string message;
  std::string file{};
  uint64_t line = 0;
  uint32_t column = 0;
  std::string token{};  // the offending text, if any
  std::string hint{};   // what the user can do

  [[nodiscard]] std::string to_string() const;
};

// Either a value or an Error. Checked: reading the wrong side aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::move(value)) {}
  Result(Error error) : v_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return v_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    RQL_CHECK(ok());
    return *std::get_if<0>(&v_);
  }
  T&& value() && {
    RQL_CHECK(ok());
    return std::move(*std::get_if<0>(&v_));
  }
  const T& value() const& {
    RQL_CHECK(ok());
    return *std::get_if<0>(&v_);
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() {
    RQL_CHECK(!ok());
    return *std::get_if<1>(&v_);
  }
  const Error& error() const {
    RQL_CHECK(!ok());
    return *std::get_if<1>(&v_);
  }

 private:
  std::variant<T, Error> v_;
};

struct Ok {};
using Status = Result<Ok>;

}  // namespace runqlab
