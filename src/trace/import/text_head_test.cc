#include "trace/import/text_head.h"

#include <gtest/gtest.h>

namespace runqlab::trace {
namespace {

struct Head {
  std::string comm;
  int32_t pid;
  CpuId cpu;
  int64_t ns;
  std::string event;
  std::string args;
  bool operator==(const Head&) const = default;
};
void PrintTo(const Head& h, std::ostream* os) {
  *os << '\'' << h.comm << "' " << h.pid << " [" << h.cpu.value() << "] " << h.ns << " '" << h.event
      << "' '" << h.args << '\'';
}

const CpuId kCpu3(3);

Head head_of(std::string_view line, Format format) {
  LineHead h;
  const HeadStatus status = parse_head(line, format, h);
  if (status == HeadStatus::no_event) return {"no event", 0, {}, 0, "", ""};
  if (status == HeadStatus::impossible) return {"impossible", 0, {}, 0, "", ""};
  const std::string group = h.group.empty() ? "" : std::string(h.group) + ":";
  return {std::string(h.comm), h.pid, h.cpu, h.time_ns, group + std::string(h.event),
          std::string(h.args)};
}
Head perf(std::string_view line) { return head_of(line, Format::perf_script); }
Head ftrace(std::string_view line) { return head_of(line, Format::ftrace_text); }
Head no_event() { return {"no event", 0, {}, 0, "", ""}; }
Head impossible() { return {"impossible", 0, {}, 0, "", ""}; }

TEST(PerfHead, Columns) {
  const Head expected{"worker", 12, kCpu3, 5'000'000'007, "sched:sched_waking", "comm=x"};
  EXPECT_EQ(perf("  worker    12    [003]     5.000000007:  sched:sched_waking: comm=x"), expected);
  EXPECT_EQ(perf("  worker 11/12    [003]     5.000000007:  sched:sched_waking: comm=x"), expected);
  EXPECT_EQ(perf("worker 12 [003] d..2. 5.000000007: sched:sched_waking: comm=x"), expected);
  EXPECT_EQ(perf("worker 12 [003] K 5.000000007: sched:sched_waking: comm=x"), expected);
  EXPECT_EQ(perf("worker 12 [003] 5.000000007:  1 sched:sched_waking: comm=x"), expected);
}

TEST(PerfHead, MicrosecondsAndNanoseconds) {
  EXPECT_EQ(perf("a 1 [003] 1.000002: e:f: x").ns, 1'000'002'000);
  EXPECT_EQ(perf("a 1 [003] 1.000000002: e:f: x").ns, 1'000'000'002);
  EXPECT_EQ(perf("a 1 [003] 1.00002: e:f: x"), no_event());
  EXPECT_EQ(perf("a 1 [003] 1.0000000002: e:f: x"), no_event());
}

TEST(PerfHead, AbsentColumns) {
  EXPECT_EQ(perf("a 1 2.000000: e:f: x"), (Head{"a", 1, CpuId::none(), 2'000'000'000, "e:f", "x"}));
  EXPECT_EQ(perf("a [003] 2.000000: e:f: x"), (Head{"a", -1, kCpu3, 2'000'000'000, "e:f", "x"}));
  EXPECT_EQ(perf("[003] 2.000000: e:f: x"), (Head{"", -1, kCpu3, 2'000'000'000, "e:f", "x"}));
  EXPECT_EQ(perf("a 2.000000: e:f: x"), no_event());
}

TEST(PerfHead, ExitedTasksHaveNoPid) {
  EXPECT_EQ(perf("  :-1    -1 [003] 2.000000: e:f: x").pid, -1);
  EXPECT_EQ(perf("  :-1 12/-1 [003] 2.000000: e:f: x").pid, -1);
}

TEST(PerfHead, NamesMayHoldAnything) {
  for (const std::string name : {"kworker/u8:3-ev", "CPU 24/KVM", "dev 0 ts", "a: b [001] 1.0:",
                                 "x=1 [2] 3/4", "1.000000", "[001]", "12", "d..2.", "-1"}) {
    EXPECT_EQ(perf("  " + name + "  7/8  [003]  2.000000:  e:f: x"),
              (Head{name, 8, kCpu3, 2'000'000'000, "e:f", "x"}));
    EXPECT_EQ(perf("  " + name + "  8 2.000000:  e:f: x"),
              (Head{name, 8, CpuId::none(), 2'000'000'000, "e:f", "x"}));
  }
}

TEST(PerfHead, ArgumentsMayLookLikeAHead) {
  EXPECT_EQ(perf("a 1 [003] 2.000000: e:f: b 2 [004] 3.000000: g:h: y").args,
            "b 2 [004] 3.000000: g:h: y");
}

TEST(PerfHead, NumbersThatCannotBe) {
  EXPECT_EQ(perf("a 2147483647 [003] 2.000000: e:f: x").pid, 2147483647);
  EXPECT_EQ(perf("a 2147483648 [003] 2.000000: e:f: x"), impossible());
  EXPECT_EQ(perf("a 99999999999999999999999 [003] 2.000000: e:f: x"), impossible());
  EXPECT_EQ(perf("a 1 [8191] 2.000000: e:f: x").cpu, CpuId(8191));
  EXPECT_EQ(perf("a 1 [8192] 2.000000: e:f: x"), impossible());
  EXPECT_EQ(perf("a 1 [003] 9223372036.854775807: e:f: x").ns, INT64_MAX);
  EXPECT_EQ(perf("a 1 [003] 9223372036.854775808: e:f: x"), impossible());
  EXPECT_EQ(perf("a 1 [003] 99999999999999999999999.000000: e:f: x"), impossible());
}

TEST(PerfHead, OtherLines) {
  EXPECT_EQ(perf(""), no_event());
  EXPECT_EQ(perf("   ffffffff81000000 schedule+0x12 ([kernel.kallsyms])"), no_event());
  EXPECT_EQ(perf("# captured on: 1.000000: x"), no_event());
}

TEST(FtraceHead, Columns) {
  const Head expected{"worker", 12, kCpu3, 5'000'007'000, "sched_waking", "comm=x"};
  EXPECT_EQ(ftrace("   worker-12    [003]     5.000007: sched_waking:    comm=x"), expected);
  EXPECT_EQ(ftrace("   worker-12    [003] d.h2    5.000007: sched_waking: comm=x"), expected);
  EXPECT_EQ(ftrace("   worker-12    [003] d.h2.   5.000007: sched_waking: comm=x"), expected);
  EXPECT_EQ(ftrace("   worker-12    [003] d..h2.. 5.000007: sched_waking: comm=x"), expected);
  EXPECT_EQ(ftrace("   worker-12    (   11) [003] d.h2. 5.000007: sched_waking: comm=x"), expected);
  EXPECT_EQ(ftrace("   worker-12    (-----) [003] d.h2. 5.000007: sched_waking: comm=x"), expected);
  EXPECT_EQ(ftrace("   worker-12      3d.h2.  5.000007000: sched_waking:  comm=x"), expected);
}

TEST(FtraceHead, UnknownNames) {
  EXPECT_EQ(ftrace("<idle>-0 [003] 1.000000: e: x").comm, "<idle>");
  EXPECT_EQ(ftrace("<...>-77 [003] 1.000000: e: x").comm, "<...>");
}

TEST(FtraceHead, NamesMayHoldAnything) {
  for (const std::string name : {"kworker/u8:3-ev", "CPU 24/KVM", "dev 0 ts",
                                 "a-1 [001] 1.0:", "(sd-pam)", "x 3d..2.", "a-1", "-"}) {
    EXPECT_EQ(ftrace("  " + name + "-8  [003]  2.000000: e: x"),
              (Head{name, 8, kCpu3, 2'000'000'000, "e", "x"}));
    EXPECT_EQ(ftrace("  " + name + "-8   3d..2.  2.000000: e: x"),
              (Head{name, 8, kCpu3, 2'000'000'000, "e", "x"}));
  }
}

TEST(FtraceHead, LinesWithoutAnEventName) {
  EXPECT_EQ(ftrace("a-1 [003] d..2. 1.000000: schedule <-worker_thread"),
            (Head{"a", 1, kCpu3, 1'000'000'000, "", "schedule <-worker_thread"}));
  EXPECT_EQ(ftrace("a-1 [003] d..2. 1.000000: <stack trace>").event, "");
}

TEST(FtraceHead, NumbersThatCannotBe) {
  EXPECT_EQ(ftrace("a-2147483648 [003] 2.000000: e: x"), impossible());
  EXPECT_EQ(ftrace("a-1 [8192] 2.000000: e: x"), impossible());
  EXPECT_EQ(ftrace("a-1 8192d..2. 2.000000: e: x"), impossible());
}

TEST(FormatOfLine, TellsThemApart) {
  EXPECT_EQ(format_of_line("a 1 [000] 1.000000: sched:sched_switch: x"), Format::perf_script);
  EXPECT_EQ(format_of_line("a 1 [000] 1.000000: cycles: x"), Format::perf_script);
  EXPECT_EQ(format_of_line("a-1 [000] 1.000000: sched_switch: x"), Format::ftrace_text);
  EXPECT_EQ(format_of_line("a 7-1 [000] 1.000000: sched_switch: x"), Format::ftrace_text);
  EXPECT_EQ(format_of_line("a-1 [000] 1.000000: sched:sched_switch: x"), Format::perf_script);
  EXPECT_EQ(format_of_line("cpus=4"), std::nullopt);
}

EventContext context(bool irqs_off, bool need_resched, bool hardirq, bool softirq) {
  EventContext c;
  c.known = true;
  c.irqs_off = irqs_off;
  c.need_resched = need_resched;
  c.hardirq = hardirq;
  c.softirq = softirq;
  return c;
}

TEST(Flags, FourAndFive) {
  EXPECT_EQ(context_of_flags("...."), context(false, false, false, false));
  EXPECT_EQ(context_of_flags("d..2"), context(true, false, false, false));
  EXPECT_EQ(context_of_flags("D..2."), context(true, false, false, false));
  EXPECT_EQ(context_of_flags("b..2."), context(false, false, false, false));
  EXPECT_EQ(context_of_flags("d.h1."), context(true, false, true, false));
  EXPECT_EQ(context_of_flags("..s1."), context(false, false, false, true));
  EXPECT_EQ(context_of_flags("d.H1."), context(true, false, true, true));
  EXPECT_EQ(context_of_flags("d.z1."), context(true, false, true, false));
  EXPECT_EQ(context_of_flags("d.Z1."), context(true, false, true, false));
  EXPECT_EQ(context_of_flags("d.s23"), context(true, false, false, true));
}

TEST(Flags, EveryMarkOfNeedResched) {
  for (const char c : std::string_view("NnpLlBb")) {
    EXPECT_EQ(context_of_flags(std::string("d") + c + "h1."), context(true, true, true, false))
        << c;
  }
}

// PREEMPT_RT before 5.17: irqs-off, need-resched, need-resched-lazy, hardirq/softirq, three depths.
TEST(Flags, SevenAndEight) {
  EXPECT_EQ(context_of_flags("d..h2.."), context(true, false, true, false));
  EXPECT_EQ(context_of_flags("d.Ls2.."), context(true, true, false, true));
  EXPECT_EQ(context_of_flags("dN..2..."), context(true, true, false, false));
  EXPECT_EQ(context_of_flags("d...11."), context(true, false, false, false));
}

TEST(Flags, NoFlags) {
  EXPECT_EQ(context_of_flags(""), EventContext{});
  EXPECT_EQ(context_of_flags("d."), EventContext{});
  EXPECT_EQ(context_of_flags("Kernel"), EventContext{});
}

}  // namespace
}  // namespace runqlab::trace
