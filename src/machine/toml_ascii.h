// machine/toml_ascii.h — a check before the TOML parser sees a file.
#pragma once

#include <string_view>

#include "base/result.h"

namespace runqlab::machine {

// Anything but ASCII stands in strings and comments only, as TOML 1.0 wants it. The parser of
// toml++ 3.2 classifies other characters by a table whose gaps it declares unreachable.
Status check_ascii(std::string_view toml, const std::string& file);

}  // namespace runqlab::machine
