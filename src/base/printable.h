// base/printable.h — text from outside (a comm, a file's content) made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace runqlab {

// Control characters (C0, DEL, C1) and bytes that are not UTF-8 become '?', as ps shows a comm.
// Characters of `keep`, such as "\n", stay.
std::string printable(std::string_view text, std::string_view keep = {});

// A text with its middle left out ("begin…end") when it has more than `most` characters; `text` is
// UTF-8. The end is kept because names differ there (pids).
std::string shortened(const std::string& text, size_t most);

// Characters of UTF-8 text: bytes that do not continue another.
size_t count_characters(std::string_view text);

// `text` as one word of a POSIX shell: quoted unless all of it is harmless. For commands that the
// user is invited to copy: a comm can hold anything.
std::string shell_word(std::string_view text);

}  // namespace runqlab
