// trace/import/foreign.h — naming content that is not a recording in text, so that its owner is
// told how to make it one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace runqlab::trace {

// `begin`: the file's first (unpacked) bytes; as many as there are, or some hundred.
std::optional<Error> foreign_content(std::string_view begin, const std::string& file);

// The Error for a text in which no line was an event. `first_line` is the first that should have
// been one, `number` its number; 0 when all were headers.
Error no_events(const std::string& file, std::string_view first_line, uint64_t number);

}  // namespace runqlab::trace
