// Damaged recordings, from the first line to the last event of their re-run: each is refused with a
// reason or ends as a run should. Run it under AddressSanitizer and UBSan, with RQL_AUDIT on.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analysis/arm_run.h"
#include "base/rng.h"
#include "sim/limits.h"
#include "trace/import/byte_source.h"
#include "trace/import/decompress.h"
#include "trace/program_blob.h"
#include "trace/replay.h"

namespace runqlab::trace {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& name) {
  const std::string path =
      std::string(RUNQLAB_TEST_DATA) + "/recordings/host_6.18/" + name + ".trace.txt.xz";
  auto source = decompressed(open_file(path).value(), path).value();
  std::string text;
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const size_t n = source->read(buffer).value();
    if (n == 0) break;
    text.append(buffer.data(), n);
  }
  Lines lines;
  for (size_t from = 0, to; (to = text.find('\n', from)) != std::string::npos; from = to + 1) {
    lines.push_back(text.substr(from, to - from));
  }
  return lines;
}

// A piece of a line that means something, put in place of another one.
void replace_word(std::string& line, RandomStream& r) {
  static const std::vector<std::string> kWords = {
      "0",         "1",       "120",        "[0]",         "[-1]",     "[99]",
      "[139]",     "R",       "X",          "migration/0", "rcu:12",   "S",
      "==>",       "D",       "[3]",        "wl:11783",    "7d.h2.",   "0d..2.",
      "pid=11783", "pid=0",   "8191",       "prio=0",      "vec=3",    "kid0-11784",
      "1.00000",   "3358.9:", "99999999.1", "8190dN.",     "a:1 [120]"};
  std::vector<std::pair<size_t, size_t>> words;
  for (size_t at = 0; (at = line.find_first_not_of(' ', at)) != std::string::npos;) {
    const size_t end = std::min(line.find(' ', at), line.size());
    words.emplace_back(at, end - at);
    at = end;
  }
  if (words.empty()) return;
  const auto [at, length] = words[r.below(words.size())];
  line.replace(at, length, kWords[r.below(kWords.size())]);
}

void damage(Lines& lines, RandomStream& r) {
  const auto any = [&] { return static_cast<size_t>(r.below(lines.size())); };
  const auto at = [&](size_t i) { return lines.begin() + static_cast<std::ptrdiff_t>(i); };
  switch (r.below(8)) {
    case 0:
      lines.erase(at(any()));
      break;
    case 1:
      lines.insert(at(any()), lines[any()]);
      break;
    case 2:
      std::swap(lines[any()], lines[any()]);
      break;
    case 3: {  // one digit
      std::string& line = lines[any()];
      const size_t digit = line.find_first_of("0123456789", r.below(line.size() + 1));
      if (digit != std::string::npos) line[digit] = static_cast<char>('0' + r.below(10));
      break;
    }
    case 4:  // a hole
      lines.erase(at(0), at(r.below(lines.size())));
      break;
    default:
      replace_word(lines[any()], r);
  }
  if (lines.empty()) lines.emplace_back();
}

class ReplayMutation : public testing::TestWithParam<const char*> {};

TEST_P(ReplayMutation, DamagedRecordingsAreRefusedOrRun) {
  const Lines all = lines_of(GetParam());
  const auto machine = machine::load_machine("pack:1 l3:2 core:2 pu:2").value();
  const auto kernel = sched::kernel_of("6.18.44").value();
  const auto path = std::filesystem::temp_directory_path() /
                    fmt::format("runqlab_mutation_{}_{}", GetParam(), getpid());
  const Rng rng(11);
  uint64_t refused = 0, ran = 0;
  constexpr uint64_t kRounds = 1'000;
  constexpr Duration kLong = Duration::seconds(2);  // a wrong digit in a time: years of ticks
  for (uint64_t round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    RandomStream r = rng.stream(GetParam(), round);
    const size_t n = std::min<size_t>(all.size(), 50 + r.below(250));
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(r.below(all.size() - n + 1));
    Lines lines(from, from + static_cast<std::ptrdiff_t>(n));
    for (uint64_t k = r.below(40); k > 0; --k) damage(lines, r);
    std::ofstream out(path, std::ios::binary);
    for (const std::string& line : lines) out << line << '\n';
    out.close();

    analysis::MetricsSink recorded;
    Diagnostics diagnostics;
    const auto replay = load_replay(path, machine, {}, recorded, diagnostics);
    if (!replay || replay->nr_cpus > machine.topology.nr_cpus()) {
      ++refused;
      EXPECT_TRUE(replay || !replay.error().message.empty());
      continue;
    }
    ASSERT_TRUE(sim::check_limits(machine, replay->workload).ok());
    if (replay->span < kLong) {
      const auto run =
          analysis::run_arm({machine, kernel, 1, replay->tracing}, replay->workload, true);
      EXPECT_NE(run.result.end, sim::RunEnd::livelock);
      ++ran;
    }
    // What a run file would hold of it is what its reader takes, and the same run.
    const auto again = from_blob(to_blob(*replay), "blob");
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    EXPECT_EQ(again->workload.content_hash, replay->workload.content_hash);
  }
  std::filesystem::remove(path);
  EXPECT_GT(ran, kRounds / 5);
  EXPECT_GT(refused, 0U);
}
INSTANTIATE_TEST_SUITE_P(Host618, ReplayMutation,
                         testing::Values("forks_par4", "mutex4_pi_fifo", "rtapp_example2",
                                         "perfpipe"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace runqlab::trace
