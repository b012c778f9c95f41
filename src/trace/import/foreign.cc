#include "trace/import/foreign.h"

#include <array>

#include "trace/import/text_scan.h"

namespace runqlab::trace {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kAccepted =
    "accepted are the texts of `perf script --ns -F comm,pid,tid,cpu,time,event,trace` and of "
    "`trace-cmd report -l -t`, and ftrace's trace file; gzip, xz or zstd may be around them";

struct Magic {
  size_t at;
  std::string_view bytes;
  std::string_view what;
  std::string_view hint;  // %: the file's name
};

constexpr std::string_view kPerf =
    "make it text: `perf script --ns -F comm,pid,tid,cpu,time,event,trace -i %` (unpack it first)";
constexpr std::string_view kTraceCmd = "make it text: `trace-cmd report -l -t %` (unpack it first)";
constexpr std::string_view kUnpack = "unpack it and give one recording";

constexpr std::array kMagics = {
    Magic{0, "PERFILE2"sv, "a perf.data file", kPerf},
    Magic{0, "PERFFILE"sv, "a perf.data file of the first version", kPerf},
    Magic{0, "2ELIFREP"sv, "a perf.data file of a big-endian machine", kPerf},
    Magic{0, "\x17\x08\x44tracing"sv, "a trace.dat file", kTraceCmd},
    Magic{0, "PK\x03\x04"sv, "a zip archive", kUnpack},
    Magic{0, "BZh"sv, "a bzip2 file", kUnpack},
    Magic{0, "\x04\x22\x4d\x18"sv, "an lz4 file", kUnpack},
    Magic{257, "ustar"sv, "a tar archive", kUnpack},
    Magic{0,
          "\x7f"
          "ELF"sv,
          "a program", kAccepted},
    Magic{0, "\xff\xfe"sv, "text in UTF-16", "convert it: `iconv -f UTF-16 -t UTF-8 %`"},
    Magic{0, "\xfe\xff"sv, "text in UTF-16", "convert it: `iconv -f UTF-16 -t UTF-8 %`"},
};

std::string with_name(std::string_view hint, const std::string& file) {
  std::string text(hint);
  if (const size_t at = text.find('%'); at != std::string::npos) text.replace(at, 1, file);
  return text;
}

Error not_a_recording(const std::string& file, std::string_view what, std::string_view hint) {
  return Error{.message = "this is " + std::string(what) + ", not a recording in text",
               .file = file,
               .line = 1,
               .hint = with_name(hint, file)};
}

bool is_html(std::string_view text) {
  // "<idle>-0" begins an ftrace line.
  return text.starts_with("<!") || text.starts_with("<html") || text.starts_with("<HTML") ||
         text.starts_with("<?xml");
}

bool is_json(std::string_view text) {
  if (text.empty() || (text[0] != '{' && text[0] != '[')) return false;
  std::string_view inside = text.substr(1);
  while (!inside.empty() && (is_blank(inside[0]) || inside[0] == '\n' || inside[0] == '\r')) {
    inside.remove_prefix(1);
  }
  // "[003] 12.000001: …" is perf script without names.
  return !inside.empty() && std::string_view("\"{}[]").find(inside[0]) != std::string_view::npos;
}

}  // namespace

std::optional<Error> foreign_content(std::string_view begin, const std::string& file) {
  if (begin.empty()) {
    return Error{.message = "the file is empty", .file = file, .hint = std::string(kAccepted)};
  }
  for (const Magic& m : kMagics) {
    if (begin.size() >= m.at && begin.substr(m.at).starts_with(m.bytes)) {
      return not_a_recording(file, m.what, m.hint);
    }
  }
  std::string_view text = begin;
  while (!text.empty() && (is_blank(text[0]) || text[0] == '\n' || text[0] == '\r')) {
    text.remove_prefix(1);
  }
  if (is_html(text)) return not_a_recording(file, "HTML or XML", kAccepted);
  if (is_json(text)) return not_a_recording(file, "JSON", kAccepted);
  return std::nullopt;
}

Error no_events(const std::string& file, std::string_view first_line, uint64_t number) {
  constexpr size_t kShown = 60;
  if (number == 0) {
    return Error{.message = "the file has no events, only headers or empty lines",
                 .file = file,
                 .hint = std::string(kAccepted)};
  }
  std::string token;
  for (const char c : trim_left(first_line).substr(0, kShown)) {
    token += c >= ' ' && c <= '~' ? c : '?';
  }
  return Error{.message = "no line is an event of perf script, ftrace or trace-cmd report",
               .file = file,
               .line = number,
               .column = 1,
               .token = std::move(token),
               .hint = std::string(kAccepted)};
}

}  // namespace runqlab::trace
