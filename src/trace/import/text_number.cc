#include "trace/import/text_number.h"

#include "base/numbers.h"
#include "trace/import/text_scan.h"

namespace runqlab::trace {

std::optional<int64_t> parse_number(std::string_view text) {
  if (!text.starts_with("0x")) return parse_i64(text);
  text.remove_prefix(2);
  if (text.empty() || text.size() > 16) return std::nullopt;
  uint64_t v = 0;
  for (const char c : text) {
    if (!is_hex_digit(c)) return std::nullopt;
    v = v * 16 + static_cast<uint64_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
  }
  if (v > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  return static_cast<int64_t>(v);
}

}  // namespace runqlab::trace
