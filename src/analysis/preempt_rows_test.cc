#include "analysis/preempt_rows.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace runqlab::analysis {
namespace {

class File {
 public:
  explicit File(const std::string& text)
      : path_(testing::TempDir() + "preempt_rows_" + std::to_string(getpid()) + ".csv") {
    std::ofstream(path_) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr const char* kCfs =
    "t_ns,exec_cpu,rqcpu,nr,cpid,cvr,cwt,cse,cpse,ppid,pvr,pwt,wf,minvr,resched\n";

PreemptTally decide(const std::string& rows) {
  const File file(kCfs + rows);
  return decide_preempt_rows(file.path(), sched::kernel_of("6.1.192").value(), 8).value();
}

TEST(PreemptRows, TheWakeupGranularityDecides) {
  // 8 CPUs: 4 ms.
  EXPECT_EQ(decide("1,0,0,2,7,9000000,1048576,50,1,8,4999999,1048576,0x0,0,1\n").equal, 1U);
  EXPECT_EQ(decide("1,0,0,2,7,9000000,1048576,50,1,8,5000000,1048576,0x0,0,1\n").only_kernel, 1U);
  EXPECT_EQ(decide("1,0,0,2,7,9000000,1048576,50,1,8,4999999,1048576,0x0,0,0\n").only_model, 1U);
}

TEST(PreemptRows, WhoWasAskedIsNotAskedAgain) {
  const std::string asked = "1,0,0,2,7,9000000,1048576,50,1,8,1,1048576,0x0,0,1\n";
  EXPECT_EQ(decide(asked + "2,0,0,3,7,9000100,1048576,150,1,9,1,1048576,0x0,0,0\n").equal, 2U);
  // Picked anew in between.
  EXPECT_EQ(decide(asked + "2,0,0,3,7,9000100,1048576,150,60,9,1,1048576,0x0,0,1\n").equal, 2U);
}

TEST(PreemptRows, WhatARowDoesNotHoldIsCounted) {
  const PreemptTally t = decide(
      "1,0,0,1,7,9000000,1048576,50,1,8,1,1048576,0x0,0,1\n"
      "2,0,0,2,7,9000000000,1048576,50,1,8,1,1048576,0x0,0,1\n");
  EXPECT_EQ(t.curr_left, 1U);
  EXPECT_EQ(t.groups, 1U);
  EXPECT_EQ(t.decided(), 0U);
}

TEST(PreemptRows, AForksOutcomeIsOpen) {
  const PreemptTally t = decide("1,0,0,2,7,9000000,1048576,50,1,8,1,1048576,0x4,0,1\n");
  EXPECT_EQ(t.open_end, 1U);
  EXPECT_EQ(t.decided(), 0U);
}

constexpr const char* kEevdf =
    "t_ns,exec_cpu,rqcpu,nr,cpid,cvr,cwt,cse,cpse,ppid,pvr,pwt,wf,minvr,cdl,pdl,cvl,pvl,csl,psl,"
    "resched\n";

// curr at 9.00 ms; the wakee has the earlier deadline and is eligible while it lies behind curr.
PreemptTally decide_eevdf(const std::string& rows) {
  const File file(kEevdf + rows);
  return decide_preempt_rows(file.path(), sched::kernel_of("6.12.95").value(), 8).value();
}

TEST(PreemptRows, ADelayedWakeeLeavesCurrUncharged) {
  const auto row = [&](const char* wakee_vruntime, const char* flags, const char* resched) {
    return std::string("1,0,0,2,7,9000000,1048576,50,1,8,") + wakee_vruntime + ",1048576," + flags +
           ",0,13000000,11000000,0,0,3000000,3000000," + resched + "\n";
  };
  // Placed, so curr is up to date: the wakee is ahead of the average, hence not eligible.
  EXPECT_EQ(decide_eevdf(row("9000100", "0x88", "0")).equal, 1U);
  // Queued all along: curr may have run past it.
  EXPECT_EQ(decide_eevdf(row("9000100", "0x8", "0")).uncharged, 1U);
  // Behind curr in any case.
  EXPECT_EQ(decide_eevdf(row("8999900", "0x8", "1")).equal, 1U);
  // The balancer's.
  EXPECT_EQ(decide_eevdf(row("8999900", "0x0", "1")).open_end, 1U);
}

TEST(PreemptRows, ErrorsNameTheLine) {
  const auto error = [](const std::string& text, const char* kernel) {
    const File file(text);
    const auto t = decide_preempt_rows(file.path(), sched::kernel_of(kernel).value(), 8);
    return t ? "" : t.error().to_string().substr(file.path().size());
  };
  EXPECT_EQ(error("", "6.1"), ": the file is empty");
  EXPECT_EQ(error("a,b\n", "6.1"), ":1: not a file of preemption checks: no column t_ns");
  EXPECT_EQ(error(std::string(kCfs) + "1,2\n", "6.1"),
            ":2: a row needs an integer in every column");
  EXPECT_NE(error(std::string(kCfs) + "1,0,0,2,7,9,1024,50,1,8,1,1024,0x0,0,1\n", "6.18")
                .find("the rows are of a kernel with CFS"),
            std::string::npos);
}

}  // namespace
}  // namespace runqlab::analysis
