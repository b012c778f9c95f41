// trace/import/header_line.h — the lines of a text recording that are no events but belong to it.
#pragma once

#include <cstdint>
#include <string_view>

namespace runqlab::trace {

struct HeaderLine {
  bool known = false;
  uint32_t nr_cpus = 0;      // "cpus=8", "#P:8"; 0: not said
  uint64_t lost = 0;         // "CPU:3 [LOST 12 EVENTS]" and the like; 1 when no number is given
  uint64_t overwritten = 0;  // "entries-in-buffer/entries-written: 10/250": older ones were lost
};

// Headers, losses, empty lines and the lines of a call chain. Not known: none of these.
HeaderLine parse_header_line(std::string_view line);

}  // namespace runqlab::trace
