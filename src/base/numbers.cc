#include "base/numbers.h"

#include <limits>

namespace runqlab {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Scales `digits`[.`fraction`] by 10^places; nothing when digits below one unit are lost.
std::optional<int64_t> parse_scaled(std::string_view text, int places) {
  const size_t dot = text.find('.');
  const auto whole = parse_u64(text.substr(0, dot));
  if (!whole) return std::nullopt;
  __int128 v = *whole;
  std::string_view frac = dot == std::string_view::npos ? "" : text.substr(dot + 1);
  if (dot != std::string_view::npos && frac.empty()) return std::nullopt;
  for (int i = 0; i < places; ++i) {
    const char c = static_cast<size_t>(i) < frac.size() ? frac[static_cast<size_t>(i)] : '0';
    if (!is_digit(c)) return std::nullopt;
    v = v * 10 + (c - '0');
  }
  for (size_t i = static_cast<size_t>(places); i < frac.size(); ++i) {
    if (frac[i] != '0') return std::nullopt;
  }
  if (v > std::numeric_limits<int64_t>::max()) return std::nullopt;
  return static_cast<int64_t>(v);
}

}  // namespace

std::optional<uint64_t> parse_u64(std::string_view text) {
  if (text.empty() || text.size() > 20) return std::nullopt;
  uint64_t v = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    const auto d = static_cast<uint64_t>(c - '0');
    if (v > (std::numeric_limits<uint64_t>::max() - d) / 10) return std::nullopt;
    v = v * 10 + d;
  }
  return v;
}

std::optional<int64_t> parse_i64(std::string_view text) {
  const bool minus = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const auto v = parse_u64(text);
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!v || *v > kMax) return std::nullopt;
  return minus ? -static_cast<int64_t>(*v) : static_cast<int64_t>(*v);
}

std::optional<int64_t> parse_seconds(std::string_view text) { return parse_scaled(text, 9); }

std::optional<Duration> parse_duration(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && (is_digit(text[n]) || text[n] == '.')) ++n;
  std::string_view unit = text.substr(n);
  while (!unit.empty() && unit[0] == ' ') unit.remove_prefix(1);
  int places = 0;
  if (unit == "us" || unit == "µs") {
    places = 3;
  } else if (unit == "ms") {
    places = 6;
  } else if (unit == "s") {
    places = 9;
  } else if (!unit.empty() && unit != "ns") {
    return std::nullopt;
  }
  const auto v = parse_scaled(text.substr(0, n), places);
  if (!v) return std::nullopt;
  return Duration::nanos(*v);
}

}  // namespace runqlab
