// Run files come from anywhere: whatever is in them, the answer is a RunFile that can be run, or an
// Error that names the file.
#include "analysis/run_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "analysis/metrics.h"
#include "base/rng.h"
#include "sim/limits.h"

namespace runqlab::analysis {
namespace {

class TempFile {
 public:
  explicit TempFile(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / (name + std::to_string(getpid()) + ".run")) {
  }
  ~TempFile() { std::filesystem::remove(path_); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

RunFile sample(bool with_replay) {
  const auto small = machine::load_machine("vm-2").value();
  const auto large = machine::load_machine("pack:2 [numa] l3:1 core:4 pu:2").value();
  RunFile run{.version = "1.2.3", .arms = {}, .replay = {}, .workload = "pipe:loops=10"};
  run.arms.push_back({"6.18.44", small, 7, 0x0123456789abcdef});
  run.arms.push_back({"6.18.44,NO_WAKEUP_PREEMPTION", small, 7, 1});
  run.arms.push_back({"6.12", large, 7, 2});
  if (with_replay) {
    MetricsSink recorded;
    Diagnostics diagnostics;
    const std::string trace =
        std::string(RUNQLAB_TEST_DATA) + "/recordings/host_6.18/rtapp_example2.trace.txt.xz";
    run.replay = trace::load_replay(trace, small, {}, recorded, diagnostics).value();
    run.workload = trace;
  }
  return run;
}

std::string bytes_of(const RunFile& run) {
  const TempFile file("runqlab_run_file_");
  EXPECT_TRUE(write_run_file(file.path(), run).ok());
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string error_of(std::string_view bytes) {
  const auto run = parse_run_file(bytes, "x.run");
  return run ? "" : run.error().to_string();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

TEST(RunFile, ComesBackAsItWas) {
  for (const bool with_replay : {false, true}) {
    const RunFile run = sample(with_replay);
    const auto again = parse_run_file(bytes_of(run), "x.run");
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    EXPECT_EQ(again->version, run.version);
    EXPECT_EQ(again->workload, run.workload);
    ASSERT_EQ(again->arms.size(), run.arms.size());
    for (size_t i = 0; i < run.arms.size(); ++i) {
      EXPECT_EQ(again->arms[i].arm, run.arms[i].arm);
      EXPECT_EQ(again->arms[i].seed, run.arms[i].seed);
      EXPECT_EQ(again->arms[i].state_hash, run.arms[i].state_hash);
      EXPECT_EQ(again->arms[i].machine.name, run.arms[i].machine.name);
      EXPECT_EQ(again->arms[i].machine.costs, run.arms[i].machine.costs);
    }
    ASSERT_EQ(again->replay.has_value(), with_replay);
    if (with_replay) {
      EXPECT_EQ(again->replay->workload.content_hash, run.replay->workload.content_hash);
    }
  }
}

TEST(RunFile, GarbageIsRefusedWithTheReason) {
  EXPECT_EQ(error_of(""),
            "x.run:1: not a run file: no first line; make one with `runqlab replay … -o FILE`, or "
            "with run or compare");
  for (const std::string bad : {"\n", "garbage\n", "[1]\n", "{}\n", "{\"format\":7}\n",
                                "{\"format\":\"other-1\"}\n", "\xff\xfe\n"}) {
    EXPECT_TRUE(error_of(bad).starts_with("x.run:1: not a run file: the first line is not its "))
        << error_of(bad);
  }
  EXPECT_NE(error_of(std::string(9 << 20, 'x')), "");
  EXPECT_NE(error_of(std::string(1 << 20, '[') + "\n"), "");  // nested too deep to read on
}

TEST(RunFile, EveryMemberIsChecked) {
  const std::string good = bytes_of(sample(false));
  ASSERT_EQ(error_of(good), "");
  const std::vector<std::pair<std::string, std::string>> kChanges = {
      {"\"machine\":0", "\"machine\":2"},
      {"\"machine\":0", "\"machine\":-1"},
      {"\"machine\":0", "\"machine\":\"0\""},
      {"\"state_hash\":\"0123456789abcdef\"", "\"state_hash\":\"0123\""},
      {"\"state_hash\":\"0123456789abcdef\"", "\"state_hash\":\"0123456789abcdeg\""},
      {"\"seed\":7", "\"seed\":-7"},
      {"\"seed\":7", "\"seed\":99999999999999999999"},
      {"\"programs_bytes\":0", "\"programs_bytes\":99999999999999"},
      {"\"programs_bytes\":0", "\"programs_bytes\":1"},
      {"\"syscall_ns\":", "\"syscall_ns\":-1,\"x\":"},
      {"\"from_file\":true", "\"from_file\":false"},
      {"\"workload\":", "\"w\":"},
  };
  for (const auto& [from, to] : kChanges) {
    EXPECT_TRUE(error_of(replaced(good, from, to)).starts_with("x.run:1: ")) << from << " " << to;
  }
  EXPECT_NE(error_of(replaced(good, "runqlab-run-2", "runqlab-run-9")).find("make it again"),
            std::string::npos);
  EXPECT_NE(error_of(good + "more"), "");
}

TEST(RunFile, ATruncatedFileIsRefused) {
  const std::string good = bytes_of(sample(true));
  ASSERT_EQ(error_of(good), "");
  const size_t step = std::max<size_t>(1, good.size() / 300);
  for (size_t n = 0; n < good.size(); n += step) EXPECT_NE(error_of(good.substr(0, n)), "") << n;
}

TEST(RunFile, DamagedFilesAreRefusedOrCanBeRun) {
  const std::string good = bytes_of(sample(true));
  const Rng rng(5);
  for (uint64_t round = 0; round < 1'000; ++round) {
    RandomStream r = rng.stream("damage", round);
    std::string bytes = good;
    for (uint64_t n = 1 + r.below(4); n > 0; --n) {
      bytes[r.below(bytes.size())] = static_cast<char>(r.below(256));
    }
    const auto run = parse_run_file(bytes, "x.run");
    if (!run || !run->replay) continue;
    for (const StoredArm& arm : run->arms) {
      EXPECT_TRUE(sim::check_limits(arm.machine, run->replay->workload).ok());
    }
  }
}

TEST(RunFile, WhatCannotBeOpenedOrWritten) {
  EXPECT_FALSE(read_run_file("/no/such/file.run").ok());
  EXPECT_FALSE(read_run_file(std::filesystem::temp_directory_path().string()).ok());
  const Status s = write_run_file("/no/such/folder/file.run", sample(false));
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().file, "/no/such/folder/file.run");
}

}  // namespace
}  // namespace runqlab::analysis
