// trace/import/text_head.h — the part of an event's line before its fields: who, where, when, what.
//
//   perf script        COMM PID[/TID] [CPU]? FLAGS? SEC.FRAC: PERIOD? GROUP:EVENT: fields
//   ftrace, trace-cmd  COMM-PID (TGID)? [CPU] FLAGS? SEC.FRAC: EVENT: fields
//   trace-cmd -l       COMM-PID  CPUFLAGS SEC.FRAC: EVENT: fields     (COMM cut to 8 characters)
//
// A task's name may hold blanks, colons, digits and brackets, so nothing is split on blanks: the
// timestamp is the first "SEC.FRAC:" with 6 or 9 digits of fraction that has a task before it, and
// what stands before it is read from right to left.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/types.h"
#include "trace/event.h"
#include "trace/import/import.h"

namespace runqlab::trace {

struct LineHead {
  std::string_view comm;  // as printed, without the padding
  int32_t pid = -1;       // the thread's
  CpuId cpu{};
  int64_t time_ns = 0;
  EventContext context{};
  std::string_view group;  // "sched"; empty in ftrace's form
  std::string_view
      event;  // "sched_switch"; empty when the line names none (function tracer, stacks)
  std::string_view args;
};

enum class HeadStatus : uint8_t {
  ok,
  no_event,    // not the line of an event
  impossible,  // an event's line, but a number in it cannot be
};

// Reads `line` as one of `format`; `head` is complete only when the answer is ok.
HeadStatus parse_head(std::string_view line, Format format, LineHead& head);

// The format of which `line` is an event, if any.
std::optional<Format> format_of_line(std::string_view line);

// What the flag characters mean, for 4, 5, 7 or 8 of them.
EventContext context_of_flags(std::string_view flags);

}  // namespace runqlab::trace
