#include "trace/import/text_head.h"

#include <cstring>

#include "base/numbers.h"
#include "trace/import/text_scan.h"

namespace runqlab::trace {
namespace {

// A "SEC.FRAC:" of a line, blank-separated on both sides.
struct Stamp {
  size_t begin = 0;  // of SEC
  size_t dot = 0;
  size_t colon = 0;
};

bool find_stamp(std::string_view line, size_t from, Stamp& stamp) {
  while (from < line.size()) {
    const void* hit = std::memchr(line.data() + from, '.', line.size() - from);
    if (hit == nullptr) return false;
    const auto dot = static_cast<size_t>(static_cast<const char*>(hit) - line.data());
    from = dot + 1;
    size_t colon = dot + 1;
    while (colon < line.size() && colon < dot + 11 && is_digit(line[colon])) ++colon;
    if (colon != dot + 7 && colon != dot + 10) continue;
    if (colon == line.size() || line[colon] != ':') continue;
    if (colon + 1 < line.size() && !is_blank(line[colon + 1])) continue;
    size_t begin = dot;
    while (begin > 0 && is_digit(line[begin - 1])) --begin;
    if (begin == dot || (begin > 0 && !is_blank(line[begin - 1]))) continue;
    stamp = {begin, dot, colon};
    return true;
  }
  return false;
}

// Nanoseconds, or nothing above 9 223 372 035 s.
std::optional<int64_t> stamp_ns(std::string_view line, const Stamp& stamp) {
  return parse_seconds(line.substr(stamp.begin, stamp.colon - stamp.begin));
}

// "[003]": its digits, or empty.
std::string_view bracketed_number(std::string_view token) {
  if (token.size() < 3 || token.front() != '[' || token.back() != ']') return {};
  const std::string_view digits = token.substr(1, token.size() - 2);
  return all_digits(digits) ? digits : std::string_view();
}

bool read_cpu(std::string_view digits, CpuId& cpu) {
  const auto n = parse_u64(digits);
  if (!n || *n > kMaxCpu) return false;
  cpu = CpuId::of(*n);
  return true;
}

bool read_pid(std::string_view text, int32_t& pid) {
  const auto n = parse_i64(text);
  if (!n || *n < -1 || *n > INT32_MAX) return false;
  pid = static_cast<int32_t>(*n);
  return true;
}

// Letters, digits and dots as flag columns have them; never digits only.
bool is_flags(std::string_view token) {
  if (token.empty() || token.size() > 9) return false;
  bool only_digits = true;
  for (const char c : token) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !is_digit(c) && c != '.' && c != '#' && c != '?') return false;
    only_digits &= is_digit(c);
  }
  return !only_digits;
}

// "123", "-1", "120/123", "120/-1".
bool is_pid_token(std::string_view token) {
  const auto is_pid = [](std::string_view s) { return s == "-1" || all_digits(s); };
  const size_t slash = token.find('/');
  if (slash == std::string_view::npos) return is_pid(token);
  return is_pid(token.substr(0, slash)) && is_pid(token.substr(slash + 1));
}

// What stands before the timestamp in perf's form.
HeadStatus before_stamp_perf(std::string_view rest, LineHead& head) {
  rest = trim_right(rest);
  std::string_view token = last_token(rest);
  std::string_view flags;
  if (is_flags(token)) {
    flags = token;
    rest = without_last_token(rest);
    token = last_token(rest);
  }
  const std::string_view cpu = bracketed_number(token);
  if (!cpu.empty()) {
    rest = without_last_token(rest);
    token = last_token(rest);
  } else if (!flags.empty() && flags.size() < 4) {
    return HeadStatus::no_event;
  }
  const bool has_pid = is_pid_token(token);
  if (!has_pid && cpu.empty()) return HeadStatus::no_event;
  head.cpu = CpuId::none();
  head.pid = -1;
  head.context = flags.size() < 4 ? EventContext{} : context_of_flags(flags);
  if (!cpu.empty() && !read_cpu(cpu, head.cpu)) return HeadStatus::impossible;
  if (has_pid) {
    // The thread's id follows the slash; alone, perf prints the thread's.
    if (!read_pid(token.substr(token.find('/') + 1), head.pid)) return HeadStatus::impossible;
    rest = without_last_token(rest);
  }
  head.comm = trim_left(rest);
  return HeadStatus::ok;
}

// "(  123)", "(-----)": the thread group's column, which some ftrace files have.
std::string_view without_tgid(std::string_view rest) {
  if (!rest.ends_with(')')) return rest;
  size_t n = rest.size() - 1;
  while (n > 0 && (is_digit(rest[n - 1]) || is_blank(rest[n - 1]) || rest[n - 1] == '-')) --n;
  return n > 0 && rest[n - 1] == '(' ? trim_right(rest.substr(0, n - 1)) : rest;
}

// What stands before the timestamp in ftrace's and trace-cmd's form.
HeadStatus before_stamp_ftrace(std::string_view rest, LineHead& head) {
  rest = trim_right(rest);
  std::string_view token = last_token(rest);
  std::string_view flags;
  std::string_view cpu = bracketed_number(token);
  if (cpu.empty()) {
    size_t n = 0;
    while (n < token.size() && is_digit(token[n])) ++n;
    flags = token.substr(n);
    if (flags.size() < 3 || !is_flags(flags)) return HeadStatus::no_event;
    if (n != 0) {
      cpu = token.substr(0, n);
    } else {
      rest = without_last_token(rest);
      cpu = bracketed_number(last_token(rest));
      if (cpu.empty()) return HeadStatus::no_event;
    }
  }
  rest = without_tgid(without_last_token(rest));
  size_t dash = rest.size();
  while (dash > 0 && is_digit(rest[dash - 1])) --dash;
  if (dash == 0 || dash == rest.size() || rest[dash - 1] != '-') return HeadStatus::no_event;
  head.context = context_of_flags(flags);
  head.comm = trim_left(rest.substr(0, dash - 1));
  if (!read_cpu(cpu, head.cpu)) return HeadStatus::impossible;
  return read_pid(rest.substr(dash), head.pid) ? HeadStatus::ok : HeadStatus::impossible;
}

// What stands behind the timestamp.
void after_stamp(std::string_view rest, Format format, LineHead& head) {
  rest = trim_left(rest);
  std::string_view token = first_token(rest);
  if (format == Format::perf_script && all_digits(token)) {  // the period, if perf was asked for it
    rest = trim_left(rest.substr(token.size()));
    token = first_token(rest);
  }
  head.group = head.event = {};
  head.args = rest;
  if (token.size() < 2 || !token.ends_with(':')) return;
  head.args = trim_left(rest.substr(token.size()));
  token.remove_suffix(1);
  if (format == Format::perf_script) {
    const size_t colon = token.find(':');
    if (colon != std::string_view::npos) {
      head.group = token.substr(0, colon);
      token.remove_prefix(colon + 1);
    }
  }
  head.event = token;
}

}  // namespace

HeadStatus parse_head(std::string_view line, Format format, LineHead& head) {
  Stamp stamp;
  for (size_t from = 0; find_stamp(line, from, stamp); from = stamp.colon + 1) {
    const std::string_view before = line.substr(0, stamp.begin);
    const HeadStatus status = format == Format::perf_script ? before_stamp_perf(before, head)
                                                            : before_stamp_ftrace(before, head);
    if (status == HeadStatus::no_event) continue;
    const auto ns = stamp_ns(line, stamp);
    if (!ns) return HeadStatus::impossible;
    head.time_ns = *ns;
    after_stamp(line.substr(stamp.colon + 1), format, head);
    return status;
  }
  return HeadStatus::no_event;
}

std::optional<Format> format_of_line(std::string_view line) {
  LineHead head;
  // Only perf prints the event's group, which settles "a-12 [000]" (a task of that name without a
  // pid, or task "a").
  const bool perf = parse_head(line, Format::perf_script, head) == HeadStatus::ok;
  if (perf && !head.group.empty()) return Format::perf_script;
  if (parse_head(line, Format::ftrace_text, head) == HeadStatus::ok) return Format::ftrace_text;
  if (perf && head.pid != -1) return Format::perf_script;
  return std::nullopt;
}

// Columns (kernel, Documentation/trace/ftrace.rst): irqs-off, need-resched, hardirq/softirq,
// preempt-depth[, migrate-disable]. PREEMPT_RT before 5.17 has need-resched-lazy as third and moves
// the rest by one; its letters and the interrupt's do not overlap, nor do the preempt-depth's hex
// digits.
EventContext context_of_flags(std::string_view flags) {
  constexpr std::string_view kInterrupt = "hHszZ";
  EventContext context;
  if (flags.size() < 3 || std::string_view(".dDbX?").find(flags[0]) == std::string_view::npos) {
    return context;
  }
  const bool lazy_column = flags.size() >= 7 && kInterrupt.find(flags[2]) == std::string_view::npos;
  const char interrupt = lazy_column ? flags[3] : flags[2];
  context.known = true;
  context.irqs_off = flags[0] == 'd' || flags[0] == 'D';
  context.need_resched = flags[1] != '.' || (lazy_column && flags[2] != '.');
  // z and Z are NMIs, which for a scheduler are interrupts; H and Z came on top of another kind.
  context.hardirq = interrupt == 'h' || interrupt == 'H' || interrupt == 'z' || interrupt == 'Z';
  context.softirq = interrupt == 's' || interrupt == 'H';
  return context;
}

}  // namespace runqlab::trace
