// cli/output.h — the only way to the terminal. What the program prints may hold names from a
// recording or a run file; none of them may move the cursor, and JSON must stay JSON.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <string_view>
#include <utility>

#include "report/json.h"

namespace runqlab::cli {

// Printable (base/printable.h) but for the ends of lines.
void write_text(std::FILE* to, std::string_view text);

template <class... T>
void print_text(fmt::format_string<T...> format, T&&... args) {
  write_text(stdout, fmt::format(format, std::forward<T>(args)...));
}
template <class... T>
void print_error(fmt::format_string<T...> format, T&&... args) {
  write_text(stderr, fmt::format(format, std::forward<T>(args)...));
}

// With bytes that are not UTF-8 replaced by U+FFFD.
void print_json(const report::Json& j);

// Whether all that was printed has reached stdout; when not, says why on stderr. A closed pipe ends
// the program by its signal before that, as users of `| head` expect.
bool output_complete();

}  // namespace runqlab::cli
