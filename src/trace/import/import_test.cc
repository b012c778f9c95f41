#include "trace/import/import.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace runqlab::trace {
namespace {

using namespace std::string_literals;
namespace warning = import_warning;

struct Imported {
  Result<ImportSummary> summary = Error{};
  std::vector<Event> events;
  StringPool names;
  Diagnostics diagnostics;

  [[nodiscard]] std::string name(StrId id) const { return id.valid() ? names.text(id) : ""; }
};

Imported import(std::string_view text, const ImportOptions& options = {}) {
  Imported in;
  in.summary = import_text(text, "rec.txt", options, in.names, in.diagnostics,
                           [&](const Event& e) { in.events.push_back(e); });
  return in;
}

std::string error_of(std::string_view text) {
  Imported in = import(text);
  return in.summary.ok() ? "no error" : in.summary.error().to_string();
}

// perf script with a task's wakeup, run and sleep on another CPU.
constexpr std::string_view kPerf =
    "# captured on a machine of ours\n"
    "          waker     5/7     [000]     1.000000100:       sched:sched_waking: comm=w x pid=8 "
    "prio=120 target_cpu=001\n"
    "\tffffffff81000000 try_to_wake_up+0x1 ([kernel.kallsyms])\n"
    "\n"
    "        swapper     0/0     [001]     1.000000200:       sched:sched_switch: "
    "prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=w x next_pid=8 "
    "next_prio=120\n"
    "            w x     8/8     [001]     1.000000300:             probe:thing: (ffff) a=1\n";

TEST(ImportPerf, DeliversExactEvents) {
  Imported in = import(kPerf);
  ASSERT_TRUE(in.summary.ok());
  ASSERT_EQ(in.events.size(), 3u);
  StringPool& n = in.names;
  EXPECT_EQ(in.events[0], (Event{.time_ns = 1'000'000'100,
                                 .line = 2,
                                 .kind = EventKind::sched_waking,
                                 .cpu = CpuId(0),
                                 .target = CpuId(1),
                                 .pid = 7,
                                 .comm = n.intern("waker"),
                                 .task_pid = 8,
                                 .task_comm = n.intern("w x"),
                                 .prio = 120}));
  EXPECT_EQ(in.events[1], (Event{.time_ns = 1'000'000'200,
                                 .line = 5,
                                 .kind = EventKind::sched_switch,
                                 .cpu = CpuId(1),
                                 .pid = 0,
                                 .comm = n.intern("swapper"),
                                 .task_pid = 0,
                                 .other_pid = 8,
                                 .task_comm = n.intern("swapper/1"),
                                 .other_comm = n.intern("w x"),
                                 .prio = 120,
                                 .other_prio = 120}));
  EXPECT_EQ(in.events[2], (Event{.time_ns = 1'000'000'300,
                                 .line = 6,
                                 .cpu = CpuId(1),
                                 .pid = 8,
                                 .comm = n.intern("w x")}));
  EXPECT_TRUE(in.diagnostics.empty());
  EXPECT_EQ(in.summary->format, Format::perf_script);
  EXPECT_EQ(in.summary->lines, 6u);
  EXPECT_EQ(in.summary->events, 3u);
  EXPECT_EQ(in.summary->nr_cpus, 2u);
  EXPECT_FALSE(in.summary->has_context);
  EXPECT_EQ(in.summary->first_ns, 1'000'000'100);
  EXPECT_EQ(in.summary->last_ns, 1'000'000'300);
}

TEST(ImportFtrace, TraceFile) {
  Imported in = import(
      "# tracer: nop\n"
      "#\n"
      "# entries-in-buffer/entries-written: 2/12   #P:4\n"
      "#\n"
      "#                                _-----=> irqs-off/BH-disabled\n"
      "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
      "#              | |         |   |||||     |         |\n"
      "           <...>-1234    [002] dNh2.   777.000001: sched_wakeup: comm=a pid=9 prio=120 "
      "target_cpu=002\n"
      "CPU:1 [LOST 40 EVENTS]\n"
      "          <idle>-0       [000] ..s1.   777.000002: softirq_entry: vec=7 [action=SCHED]\n");
  ASSERT_TRUE(in.summary.ok());
  ASSERT_EQ(in.events.size(), 2u);
  const Event& e = in.events[0];
  EXPECT_EQ(e.pid, 1234);
  EXPECT_FALSE(e.comm.valid());
  EXPECT_EQ(e.time_ns, 777'000'001'000);
  EXPECT_TRUE(e.context.known && e.context.irqs_off && e.context.need_resched && e.context.hardirq);
  EXPECT_FALSE(e.context.softirq);
  EXPECT_EQ(in.name(in.events[1].comm), "<idle>");
  EXPECT_TRUE(in.events[1].context.softirq);
  EXPECT_EQ(in.events[1].value, 7);
  EXPECT_EQ(in.summary->nr_cpus, 4u);
  EXPECT_EQ(in.summary->lost_events, 40u);
  EXPECT_TRUE(in.summary->has_context);
  EXPECT_EQ(in.diagnostics.count(warning::kLost), 1u);
  EXPECT_EQ(in.diagnostics.count(warning::kOverwritten), 10u);
  EXPECT_EQ(in.diagnostics.count(warning::kNoEvent), 0u);
}

TEST(ImportFtrace, TraceFileWithThreadGroups) {
  Imported in = import(
      "# tracer: nop\n"
      "#           TASK-PID    TGID   CPU#  |||||  TIMESTAMP  FUNCTION\n"
      "          <idle>-0     (-----) [001] d..2. 5.000001: sched_wake_idle_without_ipi: cpu=3\n"
      "            a b-12     (   11) [001] d..2. 5.000002: cpu_idle: state=1 cpu_id=1\n");
  ASSERT_EQ(in.events.size(), 2u);
  EXPECT_EQ(in.events[0].target, CpuId(3));
  EXPECT_EQ(in.name(in.events[1].comm), "a b");
  EXPECT_EQ(in.events[1].pid, 12);
}

TEST(ImportTraceCmd, ReportWithAndWithoutFlags) {
  Imported in = import(
      "version = 6\n"
      "CPU 1 is empty\n"
      "cpus=8\n"
      "            a-12    [003]     5.000001: sched_switch:         a:12 [120] W ==> swapper/3:0 "
      "[120]\n"
      "        longname-13      3d..2.     5.000002001: sched_switch:         swapper/3:0 [120] R "
      "==> longname-and-mo:13 [120]\n"
      "CPU:3 [9 EVENTS DROPPED]\n"
      "            a-12    [003] ....   5.000003: bprint:               0xffffffff810: text: x=1");
  ASSERT_TRUE(in.summary.ok());
  ASSERT_EQ(in.events.size(), 3u);
  EXPECT_EQ(in.events[0].state, TaskState::idle);
  EXPECT_FALSE(in.events[0].context.known);
  EXPECT_EQ(in.name(in.events[1].comm), "longname");
  EXPECT_EQ(in.name(in.events[1].other_comm), "longname-and-mo");
  EXPECT_EQ(in.events[1].cpu, CpuId(3));
  EXPECT_EQ(in.events[1].time_ns, 5'000'002'001);
  EXPECT_EQ(in.events[2].kind, EventKind::other);
  EXPECT_EQ(in.summary->nr_cpus, 8u);
  EXPECT_EQ(in.summary->lost_events, 9u);
}

TEST(ImportLines, EndsOfLinesNulsAndLength) {
  const std::string line = "a-1 [000] 5.000001: cpu_idle: state=1 cpu_id=0";
  EXPECT_EQ(import(line).events.size(), 1u);
  EXPECT_EQ(import(line + "\r\n" + line + "\r\n").events.size(), 2u);
  EXPECT_EQ(import("\xef\xbb\xbf" + line).events.size(), 1u);
  Imported nuls = import(line + "\n" + "\0\0\0\n"s + "a\0b-2 [000] 5.000002: sched_x: \0\n"s);
  EXPECT_EQ(nuls.events.size(), 2u);
  EXPECT_EQ(nuls.diagnostics.count(warning::kNoEvent), 1u);
  Imported longs = import(line + "\n" + std::string(1 << 20, 'x') + "\n" + line);
  EXPECT_EQ(longs.events.size(), 2u);
  EXPECT_EQ(longs.diagnostics.count(warning::kLineTooLong), 1u);
  EXPECT_EQ(longs.summary->lines, 3u);
}

TEST(ImportLines, BadOnesAreCountedWithTheirPlace) {
  Imported in = import(
      "a-1 [000] 5.000001: cpu_idle: state=1 cpu_id=0\n"
      "hello\n"
      "a-1 [000] 5.000002: sched_waking: comm=x pid=7 prio=120 target_cpu=65535\n"
      "a-1 [70000] 5.000003: cpu_idle: state=1 cpu_id=0\n"
      "a-1 [000] 5.000004: sched_waking: comm=x pid=7\n");
  EXPECT_EQ(in.events.size(), 1u);
  ASSERT_EQ(in.diagnostics.count(warning::kNoEvent), 1u);
  EXPECT_EQ(in.diagnostics.kinds().find(warning::kNoEvent)->second.first[0].line, 2u);
  ASSERT_EQ(in.diagnostics.count(warning::kBadFields), 3u);
  const auto& bad = in.diagnostics.kinds().find(warning::kBadFields)->second.first;
  EXPECT_EQ(bad[0].file, "rec.txt");
  EXPECT_EQ(bad[0].line, 3u);
  EXPECT_EQ(bad[0].column, 68u);
  EXPECT_EQ(bad[0].token, "65535");
  EXPECT_EQ(bad[0].message, "sched_waking: target_cpu cannot be");
  EXPECT_EQ(bad[1].line, 4u);
  EXPECT_EQ(bad[2].message, "sched_waking: target_cpu is missing");
  EXPECT_EQ(in.diagnostics.total(Severity::skipped), 4u);
}

TEST(ImportLines, OnlyTheFirstWarningsAreKeptInFull) {
  std::string text = "a-1 [000] 5.000001: cpu_idle: state=1 cpu_id=0\n";
  for (int i = 0; i < 1000; ++i) text += "hello\n";
  Imported in = import(text);
  EXPECT_EQ(in.diagnostics.count(warning::kNoEvent), 1000u);
  EXPECT_EQ(in.diagnostics.kinds().find(warning::kNoEvent)->second.first.size(),
            Diagnostics::kKept);
}

std::string idle_at(const std::vector<std::string>& times) {
  std::string text;
  for (const std::string& t : times) text += "a-1 [000] " + t + ": cpu_idle: state=1 cpu_id=0\n";
  return text;
}

TEST(ImportOrder, ByTimeAndThenByLine) {
  Imported in = import(idle_at({"5.000003", "5.000001", "5.000003", "5.000002"}));
  std::vector<uint64_t> lines;
  lines.reserve(in.events.size());
  for (const Event& e : in.events) lines.push_back(e.line);
  EXPECT_EQ(lines, (std::vector<uint64_t>{2, 4, 1, 3}));
  EXPECT_TRUE(in.diagnostics.empty());
}

TEST(ImportOrder, TooLateIsCounted) {
  const ImportOptions narrow{.reorder_window_ns = 1000, .reorder_least = 0};
  Imported in = import(idle_at({"5.000001", "5.000005", "5.000009", "5.000002"}), narrow);
  EXPECT_EQ(in.events.back().time_ns, 5'000'009'000);
  EXPECT_EQ(in.events[2].time_ns, 5'000'002'000);
  EXPECT_EQ(in.diagnostics.count(warning::kOutOfOrder), 1u);
  EXPECT_EQ(in.summary->first_ns, 5'000'001'000);
}

TEST(ImportRange, FromIsInAndToIsOut) {
  const std::string text = idle_at({"5.000001", "5.000002", "5.000003", "5.000004"});
  Imported in = import(text, {.from_ns = 5'000'002'000, .to_ns = 5'000'004'000});
  ASSERT_EQ(in.events.size(), 2u);
  EXPECT_EQ(in.events[0].time_ns, 5'000'002'000);
  EXPECT_EQ(in.summary->events, 2u);
  Imported none = import(text, {.from_ns = 6'000'000'000});
  ASSERT_TRUE(none.summary.ok());
  EXPECT_EQ(none.summary->events, 0u);
}

TEST(ImportErrors, SayWhatToDo) {
  EXPECT_NE(error_of("").find("rec.txt: the file is empty"), std::string::npos) << error_of("");
  EXPECT_NE(error_of(" \n\n").find("no events, only headers"), std::string::npos);
  EXPECT_NE(error_of("# tracer: nop\n#\ncpus=2\n").find("no events, only headers"),
            std::string::npos);
  const std::string text = error_of("\ndear diary\n");
  EXPECT_NE(text.find("rec.txt:2:1: no line is an event"), std::string::npos) << text;
  EXPECT_NE(text.find("dear diary"), std::string::npos) << text;
  EXPECT_NE(text.find("perf script --ns -F comm,pid,tid,cpu,time,event,trace"), std::string::npos);
}

TEST(ImportErrors, ForeignFormatsAreNamed) {
  const std::pair<std::string, std::string> table[] = {
      {"PERFILE2\x68\0"s, "perf script --ns -F comm,pid,tid,cpu,time,event,trace -i rec.txt"},
      {"\x17\x08\x44tracing6\0"s, "trace-cmd report -l -t rec.txt"},
      {" {\"traceEvents\": []}", "JSON"},
      {"[\n{\"ph\": \"X\"}]", "JSON"},
      {"<!DOCTYPE html>\n<html>", "HTML"},
      {"\xff\xfe#\0 \0"s, "UTF-16"},
      {"PK\x03\x04", "zip"},
      {std::string(257, 'a') + "ustar", "tar"},
  };
  for (const auto& [content, expected] : table) {
    EXPECT_NE(error_of(content).find(expected), std::string::npos) << error_of(content);
  }
  EXPECT_EQ(import("<idle>-0 [000] 5.000001: cpu_idle: state=1 cpu_id=0").events.size(), 1u);
  EXPECT_EQ(import("[000] 5.000001: power:cpu_idle: state=1 cpu_id=0").events.size(), 1u);
}

TEST(ImportErrors, FilesThatCannotBeRead) {
  StringPool names;
  Diagnostics diagnostics;
  const auto none =
      import_file("/nonexistent/rec.txt", {}, names, diagnostics, [](const Event&) {});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().to_string().find("/nonexistent/rec.txt: cannot open: No such file"),
            std::string::npos)
      << none.error().to_string();
  const auto folder = import_file("/", {}, names, diagnostics, [](const Event&) {});
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.error().message.find("cannot read"), std::string::npos);
}

}  // namespace
}  // namespace runqlab::trace
