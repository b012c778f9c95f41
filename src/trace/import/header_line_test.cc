#include "trace/import/header_line.h"

#include <gtest/gtest.h>

namespace runqlab::trace {
namespace {

TEST(HeaderLineTest, Headers) {
  for (const char* line : {"", "   ", "version = 6", "CPU 3 is empty", "# tracer: nop", "#",
                           "cpus=4", "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION",
                           "##### CPU 2 buffer started ####"}) {
    EXPECT_TRUE(parse_header_line(line).known) << line;
    EXPECT_EQ(parse_header_line(line).lost, 0u) << line;
  }
  EXPECT_EQ(parse_header_line("cpus=192").nr_cpus, 192u);
  EXPECT_EQ(parse_header_line("cpus=99999999999").nr_cpus, 0u);
  const HeaderLine h = parse_header_line("# entries-in-buffer/entries-written: 100/250   #P:4");
  EXPECT_EQ(h.nr_cpus, 4u);
  EXPECT_EQ(h.overwritten, 150u);
  EXPECT_EQ(parse_header_line("# entries-in-buffer/entries-written: 9/9   #P:1").overwritten, 0u);
}

TEST(HeaderLineTest, Losses) {
  EXPECT_EQ(parse_header_line("CPU:3 [123 EVENTS DROPPED]").lost, 123u);
  EXPECT_EQ(parse_header_line("CPU:3 [EVENTS DROPPED]").lost, 1u);
  EXPECT_EQ(parse_header_line("CPU:3 [LOST 12 EVENTS]").lost, 12u);
  EXPECT_EQ(parse_header_line("CPU 3 [LOST 12 EVENTS]").lost, 12u);
  EXPECT_EQ(parse_header_line("CPU:3 [LOST EVENTS]").lost, 1u);
  EXPECT_EQ(parse_header_line("LOST 7 events!").lost, 7u);
  EXPECT_EQ(parse_header_line("a 1 [000] 1.000000: PERF_RECORD_LOST lost 12").lost, 12u);
  EXPECT_EQ(parse_header_line("CPU:3 [LOST 99999999999999999999 EVENTS]").lost, 1u);
}

TEST(HeaderLineTest, CallChains) {
  EXPECT_TRUE(parse_header_line("\tffffffff81000000 schedule+0x12 ([kernel.kallsyms])").known);
  EXPECT_TRUE(parse_header_line("            7f00deadbeef [unknown] (/usr/lib/libc.so.6)").known);
  EXPECT_TRUE(parse_header_line(" => schedule").known);
  EXPECT_TRUE(parse_header_line("=> __schedule (ffffffff81000000)").known);
}

TEST(HeaderLineTest, AnythingElseIsStrange) {
  for (const char* line : {"hello", "cpus=many", "ffff schedule", "CPU 3 is full", " text"}) {
    EXPECT_FALSE(parse_header_line(line).known) << line;
  }
}

}  // namespace
}  // namespace runqlab::trace
