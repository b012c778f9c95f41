// trace/import/text_number.h — a number in an event's fields: decimal, or hexadecimal with 0x, as
// raw fields of unsigned type are printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace runqlab::trace {

// The whole text; nothing when it is not a number or does not fit.
std::optional<int64_t> parse_number(std::string_view text);

}  // namespace runqlab::trace
