#include "base/printable.h"

#include <algorithm>
#include <cstdint>

namespace runqlab {
namespace {

constexpr uint8_t byte(char c) { return static_cast<uint8_t>(c); }
constexpr bool continues(char c) { return (byte(c) & 0xc0U) == 0x80; }

// Length of the character that `s` begins with; 0 when it is no well-formed UTF-8 (Unicode 15,
// table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
size_t character_length(std::string_view s) {
  const uint8_t lead = byte(s[0]);
  if (lead < 0x80) return 1;
  const size_t n = lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : 4;
  if (lead < 0xc2 || lead > 0xf4 || s.size() < n) return 0;
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(s[1]) < low || byte(s[1]) > high) return 0;
  for (size_t i = 2; i < n; ++i) {
    if (!continues(s[i])) return 0;
  }
  return n;
}

bool is_control(std::string_view character) {
  const uint8_t first = byte(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && byte(character[1]) < 0xa0;
}

}  // namespace

std::string printable(std::string_view text, std::string_view keep) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t n = character_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(n, 1));
    const bool as_it_is =
        n != 0 && (!is_control(character) || keep.find(character) != std::string_view::npos);
    out += as_it_is ? character : "?";
    text.remove_prefix(character.size());
  }
  return out;
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string shortened(const std::string& text, size_t most) {
  if (most < 3 || count_characters(text) <= most) return text;
  // One place is the ellipsis's.
  const size_t tail = (most - 1) / 2, head = most - 1 - tail;
  size_t front = 0, back = text.size();
  for (size_t n = 0; front < text.size(); ++front) {
    if (!continues(text[front]) && n++ == head) break;
  }
  for (size_t n = 0; n < tail;) {
    if (!continues(text[--back])) ++n;
  }
  return text.substr(0, front) + "…" + text.substr(back);
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kHarmless =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-";
  if (!text.empty() && text.find_first_not_of(kHarmless) == std::string_view::npos) {
    return std::string(text);
  }
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace runqlab
