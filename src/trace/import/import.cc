#include "trace/import/import.h"

#include <algorithm>

#include "trace/import/byte_source.h"
#include "trace/import/decompress.h"
#include "trace/import/foreign.h"
#include "trace/import/header_line.h"
#include "trace/import/line_reader.h"
#include "trace/import/name_cache.h"
#include "trace/import/payload.h"
#include "trace/import/reorder.h"
#include "trace/import/text_head.h"
#include "trace/import/text_scan.h"

namespace runqlab::trace {

std::string_view to_string(Format f) {
  switch (f) {
    case Format::perf_script:
      return "perf script text";
    case Format::ftrace_text:
      return "ftrace or trace-cmd report text";
  }
  return "unknown format";
}

namespace {

// A warning with its first occurrences in full and the others as a number: a file may have
// millions.
class Warning {
 public:
  Warning(Severity severity, std::string_view kind, Diagnostics& out)
      : severity_(severity), kind_(kind), out_(out) {}
  Warning(const Warning&) = delete;
  Warning& operator=(const Warning&) = delete;
  ~Warning() { out_.add(severity_, kind_, unsaid_); }

  template <class MakeError>
  void add(MakeError&& make_error) {
    if (said_ < Diagnostics::kKept) {
      ++said_;
      out_.add(severity_, kind_, make_error());
    } else {
      ++unsaid_;
    }
  }

 private:
  Severity severity_;
  std::string_view kind_;
  Diagnostics& out_;
  uint64_t said_ = 0, unsaid_ = 0;
};

class TextImport {
 public:
  TextImport(ByteSource& source, const std::string& file, const ImportOptions& options,
             StringPool& names, Diagnostics& diagnostics, const EventSink& sink)
      : lines_(source),
        file_(file),
        options_(options),
        names_(names),
        diagnostics_(diagnostics),
        sink_(sink),
        reorder_(options.reorder_window_ns, options.reorder_least, options.reorder_limit) {}

  Result<ImportSummary> run() {
    if (auto error = foreign_content(lines_.peek(), file_); error && !lines_.failed()) {
      return *std::move(error);
    }
    std::string_view text;
    for (;;) {
      const LineReader::Next next = lines_.next(text);
      if (next == LineReader::Next::failed) return lines_.error();
      if (next == LineReader::Next::end) break;
      if (lines_.number() == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(3);
      if (next == LineReader::Next::too_long) {
        too_long_.add([&] { return here(text, "the line is longer than 64 KiB"); });
      } else {
        line(text);
      }
    }
    reorder_.flush([this](const Event& e) { deliver(e); });
    if (events_seen_ == 0) return no_events(file_, first_strange_, first_strange_number_);
    if (reorder_.late() != 0) {
      diagnostics_.add(Severity::repair, import_warning::kOutOfOrder, reorder_.late());
    }
    summary_.lines = lines_.number();
    return summary_;
  }

 private:
  static constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

  [[nodiscard]] Error here(std::string_view text, std::string message,
                           std::string_view token = {}) const {
    const bool inside =
        !token.empty() && token.data() >= text.data() && token.data() <= text.data() + text.size();
    const auto column = inside ? static_cast<uint32_t>(token.data() - text.data()) + 1 : 0;
    return Error{.message = std::move(message),
                 .file = file_,
                 .line = lines_.number(),
                 .column = column,
                 .token = std::string(token.substr(0, 60))};
  }

  void line(std::string_view text) {
    if (!format_) {
      format_ = format_of_line(text);
      if (!format_) return other_line(text);
      summary_.format = *format_;
    }
    LineHead head;
    switch (parse_head(text, *format_, head)) {
      case HeadStatus::ok:
        return event_line(text, head);
      case HeadStatus::no_event:
        return other_line(text);
      case HeadStatus::impossible:
        bad_fields_.add([&] { return here(text, "a pid, CPU or time that cannot be"); });
        return;
    }
  }

  void event_line(std::string_view text, const LineHead& head) {
    if (head.event == "PERF_RECORD_LOST" || head.args.starts_with("PERF_RECORD_LOST")) {
      return other_line(text);
    }
    Event event;
    event.time_ns = head.time_ns;
    event.line = lines_.number();
    event.context = head.context;
    event.cpu = head.cpu;
    event.pid = head.pid;
    const PayloadFlaw flaw = parse_payload(head.group, head.event, head.args, names_, event);
    if (!flaw.key.empty()) {
      bad_fields_.add([&] {
        return here(text,
                    std::string(head.event) + ": " + std::string(flaw.key) +
                        (flaw.value.empty() ? " is missing" : " cannot be"),
                    flaw.value);
      });
      return;
    }
    // "<...>" and ":1234" are the recorders' words for a task whose name they do not know.
    const bool nameless = head.comm.empty() || head.comm == "<...>" || head.comm[0] == ':';
    if (!nameless) event.comm = names_.intern(head.comm);
    if (events_seen_++ == 0) summary_.file_first_ns = summary_.file_last_ns = event.time_ns;
    summary_.file_first_ns = std::min(summary_.file_first_ns, event.time_ns);
    summary_.file_last_ns = std::max(summary_.file_last_ns, event.time_ns);
    summary_.has_context |= event.context.known;
    see_cpu(event.cpu);
    see_cpu(event.target);
    if (event.kind == EventKind::sched_migrate_task) {
      see_cpu(CpuId::of(static_cast<size_t>(event.value)));
    }
    if (event.time_ns < options_.from_ns || event.time_ns >= options_.to_ns) return;
    reorder_.push(event, [this](const Event& e) { deliver(e); });
  }

  void other_line(std::string_view text) {
    const HeaderLine header = parse_header_line(text);
    summary_.nr_cpus = std::max(summary_.nr_cpus, header.nr_cpus);
    if (header.lost != 0) {
      summary_.lost_events += std::min(header.lost, UINT64_MAX - summary_.lost_events);
      lost_.add([&] { return here(text, std::string(trim_left(text).substr(0, 80))); });
    }
    if (header.overwritten != 0) {
      diagnostics_.add(Severity::info, import_warning::kOverwritten, header.overwritten);
    }
    if (header.known) return;
    if (first_strange_number_ == 0) {
      first_strange_number_ = lines_.number();
      first_strange_ = text.substr(0, 200);
    }
    no_event_.add([&] { return here(text, "not an event", trim_left(text)); });
  }

  void see_cpu(CpuId cpu) {
    if (cpu.valid()) summary_.nr_cpus = std::max(summary_.nr_cpus, cpu.value() + uint32_t{1});
  }

  void deliver(const Event& event) {
    if (summary_.events++ == 0) summary_.first_ns = summary_.last_ns = event.time_ns;
    summary_.first_ns = std::min(summary_.first_ns, event.time_ns);
    summary_.last_ns = std::max(summary_.last_ns, event.time_ns);
    sink_(event);
  }

  LineReader lines_;
  const std::string& file_;
  const ImportOptions& options_;
  NameCache names_;
  Diagnostics& diagnostics_;
  const EventSink& sink_;
  Reorder reorder_;
  std::optional<Format> format_;
  ImportSummary summary_;
  uint64_t events_seen_ = 0;   // in the file, delivered or not
  std::string first_strange_;  // the first line that is neither event nor header
  uint64_t first_strange_number_ = 0;
  Warning no_event_{Severity::skipped, import_warning::kNoEvent, diagnostics_};
  Warning bad_fields_{Severity::skipped, import_warning::kBadFields, diagnostics_};
  Warning too_long_{Severity::skipped, import_warning::kLineTooLong, diagnostics_};
  Warning lost_{Severity::info, import_warning::kLost, diagnostics_};
};

Result<ImportSummary> import_bytes(std::unique_ptr<ByteSource> raw, const std::string& file,
                                   const ImportOptions& options, StringPool& names,
                                   Diagnostics& diagnostics, const EventSink& sink) {
  auto source = decompressed(std::move(raw), file);
  if (!source) return source.error();
  return TextImport(**source, file, options, names, diagnostics, sink).run();
}

}  // namespace

Result<ImportSummary> import_file(const std::string& path, const ImportOptions& options,
                                  StringPool& names, Diagnostics& diagnostics,
                                  const EventSink& sink) {
  auto raw = open_file(path);
  if (!raw) return raw.error();
  return import_bytes(std::move(*raw), path, options, names, diagnostics, sink);
}

Result<ImportSummary> import_text(std::string_view text, const std::string& name,
                                  const ImportOptions& options, StringPool& names,
                                  Diagnostics& diagnostics, const EventSink& sink) {
  return import_bytes(open_memory(text), name, options, names, diagnostics, sink);
}

}  // namespace runqlab::trace
