#include "trace/import/header_line.h"

#include <algorithm>

#include "base/numbers.h"
#include "trace/import/text_scan.h"

namespace runqlab::trace {
namespace {

std::string_view digits_behind(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  text = trim_left(text.substr(at + mark.size()));
  size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return text.substr(0, n);
}

uint32_t cpus_of(std::string_view digits) {
  const auto n = parse_u64(digits);
  return n && *n <= kMaxCpu + 1 ? static_cast<uint32_t>(*n) : 0;
}

// "# entries-in-buffer/entries-written: 100/250   #P:4"
void read_comment(std::string_view line, HeaderLine& header) {
  header.known = true;
  header.nr_cpus = cpus_of(digits_behind(line, "#P:"));
  const std::string_view in_buffer = digits_behind(line, "entries-written:");
  if (in_buffer.empty()) return;
  const auto* behind = in_buffer.data() + in_buffer.size();
  const std::string_view rest(behind, static_cast<size_t>(line.data() + line.size() - behind));
  const auto kept = parse_u64(in_buffer);
  const auto written = parse_u64(digits_behind(rest, "/"));
  if (kept && written && *written > *kept) header.overwritten = *written - *kept;
}

// The recorders' words for a hole:
//   trace-cmd  "CPU:3 [123 EVENTS DROPPED]", "CPU:3 [EVENTS DROPPED]"
//   ftrace     "CPU:3 [LOST 12 EVENTS]", "CPU:3 [LOST EVENTS]"
//   perf       "LOST 12 events!", "PERF_RECORD_LOST lost 12", "PERF_RECORD_LOST_SAMPLES lost 12"
bool is_loss(std::string_view line) {
  if (line.starts_with("CPU")) {
    return line.find(" EVENTS]") != line.npos || line.find("EVENTS DROPPED]") != line.npos;
  }
  if (line.starts_with("LOST ")) return line.ends_with("events!");
  return line.find("PERF_RECORD_LOST") != line.npos;
}

uint64_t lost_of(std::string_view line) {
  for (const std::string_view mark : {"LOST ", "lost ", "["}) {
    if (const auto n = parse_u64(digits_behind(line, mark)); n) return std::max<uint64_t>(*n, 1);
  }
  return 1;
}

// perf: an indented address and its symbol. ftrace: "=> function".
bool is_call_chain(std::string_view line, std::string_view trimmed) {
  if (trimmed.starts_with("=> ") || trimmed == "=>") return true;
  if (!is_blank(line[0])) return false;
  const std::string_view address = first_token(trimmed);
  return std::all_of(address.begin(), address.end(), is_hex_digit);
}

bool is_cpu_note(std::string_view line) {  // "CPU 3 is empty"
  return line.starts_with("CPU ") && line.ends_with(" is empty");
}

}  // namespace

HeaderLine parse_header_line(std::string_view line) {
  HeaderLine header;
  const std::string_view trimmed = trim_right(trim_left(line));
  if (trimmed.empty() || trimmed.starts_with("version = ") || is_cpu_note(trimmed)) {
    header.known = true;
  } else if (trimmed[0] == '#') {  // also "##### CPU 2 buffer started ####"
    read_comment(trimmed, header);
  } else if (trimmed.starts_with("cpus=") && all_digits(trimmed.substr(5))) {
    header.known = true;
    header.nr_cpus = cpus_of(trimmed.substr(5));
  } else if (is_loss(trimmed)) {
    header.known = true;
    header.lost = lost_of(trimmed);
  } else {
    header.known = is_call_chain(line, trimmed);
  }
  return header;
}

}  // namespace runqlab::trace
