// trace/import/field_reader.h — "key=value" fields of an event, read from the right.
// The kernel prints a task's name before its numbers, and the name may hold "pid=7" itself. From
// the right, what is printed last is found first, so no name can fake a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/types.h"

namespace runqlab::trace {

class FieldReader {
 public:
  explicit FieldReader(std::string_view args) : rest_(args) {}

  // Each takes the last `key=` of what is left and leaves what stands before it. On failure the
  // first one is kept (flaw()) and the value is 0, none or empty.
  int64_t number(std::string_view key);
  int32_t pid(std::string_view key);   // 0 … INT32_MAX
  CpuId cpu(std::string_view key);     // 0 … 8191
  int16_t prio(std::string_view key);  // -1 (deadline) … 32767
  std::string_view word(std::string_view key);

  // The name that fills the rest: "key=NAME" is all there is.
  std::string_view name(std::string_view key);
  // The name behind the last " key=" that has a field `before` directly in front of it.
  std::string_view name(std::string_view key, std::string_view before);

  // The last field of the rest, if it is `key`.
  std::optional<int64_t> trailing_number(std::string_view key);

  [[nodiscard]] bool ok() const { return flaw_.empty(); }
  // The key that is missing or whose value is impossible, and that value.
  [[nodiscard]] std::string_view flaw() const { return flaw_; }
  [[nodiscard]] std::string_view flawed_value() const { return flawed_value_; }
  void fail(std::string_view key, std::string_view value);

 private:
  std::optional<std::string_view> take(std::string_view key);
  int64_t number_within(std::string_view key, int64_t least, int64_t most);

  std::string_view rest_;
  std::string_view flaw_;
  std::string_view flawed_value_;
};

// The value of the first `key=` of `args` up to the next blank, or nothing: for events without
// names before the field.
std::optional<std::string_view> first_field(std::string_view args, std::string_view key);

}  // namespace runqlab::trace
