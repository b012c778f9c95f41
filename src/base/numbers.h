// base/numbers.h — numbers of user input, read as integers by their digits (never through double).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/types.h"

namespace runqlab {

// Decimal digits only, the whole text; nothing on overflow, sign, blank or empty text.
std::optional<uint64_t> parse_u64(std::string_view text);
// As parse_u64 with an optional leading '-' or '+'.
std::optional<int64_t> parse_i64(std::string_view text);

// "SECONDS[.FRACTION]" to nanoseconds: "12.000065" is 12 000 065 000 ns. Up to 9 digits of
// fraction; more digits are accepted only when they are zeros. Nothing on overflow.
std::optional<int64_t> parse_seconds(std::string_view text);

// A duration with a unit: "150us", "2.5ms", "10 s", "400ns"; without a unit, nanoseconds.
std::optional<Duration> parse_duration(std::string_view text);

// CPU lists as the kernel prints them: "0-3,8". Calls f(first, last) for each range. False on a
// malformed list or a number above 65534; f may have been called for the ranges before it.
template <class F>
bool parse_cpu_list(std::string_view text, F&& f) {
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    if (comma != std::string_view::npos && comma + 1 == text.size()) return false;
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const size_t dash = item.find('-');
    const auto first = parse_u64(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_u64(item.substr(dash + 1));
    if (!first || !last || *last < *first || *last > 65534) return false;
    f(static_cast<uint32_t>(*first), static_cast<uint32_t>(*last));
  }
  return true;
}

}  // namespace runqlab
