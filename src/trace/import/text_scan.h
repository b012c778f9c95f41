// trace/import/text_scan.h — small pieces of reading a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/numbers.h"

namespace runqlab::trace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

constexpr std::string_view trim_left(std::string_view s) {
  size_t n = 0;
  while (n < s.size() && is_blank(s[n])) ++n;
  return s.substr(n);
}
constexpr std::string_view trim_right(std::string_view s) {
  size_t n = s.size();
  while (n > 0 && is_blank(s[n - 1])) --n;
  return s.substr(0, n);
}

constexpr std::string_view first_token(std::string_view s) {
  size_t n = 0;
  while (n < s.size() && !is_blank(s[n])) ++n;
  return s.substr(0, n);
}
constexpr std::string_view last_token(std::string_view s) {
  size_t n = s.size();
  while (n > 0 && !is_blank(s[n - 1])) --n;
  return s.substr(n);
}
// `s` without its last token and the blanks before that.
constexpr std::string_view without_last_token(std::string_view s) {
  return trim_right(s.substr(0, s.size() - last_token(s).size()));
}

constexpr bool all_digits(std::string_view s) {
  for (const char c : s) {
    if (!is_digit(c)) return false;
  }
  return !s.empty();
}

constexpr uint64_t kMaxCpu = kMaxCpus - 1;

}  // namespace runqlab::trace
