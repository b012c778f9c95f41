// The project's recordings of real kernels, imported whole. They are not part of the source tree:
// RUNQLAB_SHARED_TRACES names their folder, or it is ../shared/traces of the checkout.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trace/import/byte_source.h"
#include "trace/import/decompress.h"
#include "trace/import/import.h"
#include "trace/import/line_reader.h"

namespace runqlab::trace {
namespace {

namespace fs = std::filesystem;
namespace warning = import_warning;

fs::path folder() {
  if (const char* env = std::getenv("RUNQLAB_SHARED_TRACES"); env != nullptr) return env;
  return fs::path(RUNQLAB_SOURCE_DIR) / ".." / "shared" / "traces";
}

// Events that are one kind each, so that a search for the name counts them.
constexpr std::pair<std::string_view, EventKind> kCounted[] = {
    {"sched_switch", EventKind::sched_switch},
    {"sched_waking", EventKind::sched_waking},
    {"sched_wakeup", EventKind::sched_wakeup},
    {"sched_wakeup_new", EventKind::sched_wakeup_new},
    {"sched_migrate_task", EventKind::sched_migrate_task},
    {"sched_process_fork", EventKind::sched_process_fork},
    {"sched_process_exec", EventKind::sched_process_exec},
    {"sched_process_exit", EventKind::sched_process_exit},
    {"sched_stat_runtime", EventKind::sched_stat_runtime},
    {"sched_pi_setprio", EventKind::sched_pi_setprio},
    {"softirq_raise", EventKind::softirq_raise},
    {"softirq_entry", EventKind::softirq_entry},
    {"softirq_exit", EventKind::softirq_exit},
    {"irq_handler_entry", EventKind::irq_handler_entry},
    {"irq_handler_exit", EventKind::irq_handler_exit},
    {"hrtimer_expire_entry", EventKind::hrtimer_expire},
    {"ipi_send_cpu", EventKind::ipi_send},
    {"sched_wake_idle_without_ipi", EventKind::wake_idle_without_ipi},
    {"cpu_idle", EventKind::cpu_idle},
};
constexpr size_t kKinds = static_cast<size_t>(EventKind::other) + 1;
using Counts = std::array<uint64_t, kKinds>;

uint64_t& of(Counts& counts, EventKind kind) { return counts[static_cast<size_t>(kind)]; }

struct Outcome {
  Counts counts{};
  ImportSummary summary;
  Diagnostics diagnostics;
  uint64_t sleeps = 0;  // switches out in TaskState::interruptible
  bool sorted = true;
};

Outcome import_whole(const fs::path& path) {
  Outcome o;
  StringPool names;
  int64_t last = 0;
  const auto summary = import_file(path, {}, names, o.diagnostics, [&](const Event& e) {
    ++of(o.counts, e.kind);
    o.sleeps += e.kind == EventKind::sched_switch && e.state == TaskState::interruptible;
    o.sorted &= e.time_ns >= last;
    last = e.time_ns;
  });
  EXPECT_TRUE(summary.ok()) << (summary.ok() ? "" : summary.error().to_string());
  if (summary.ok()) o.summary = *summary;
  return o;
}

// Lines with "EVENT:" behind a blank or a colon, which is what grep would count.
Counts search(const fs::path& path) {
  Counts counts{};
  auto raw = open_file(path);
  auto source = decompressed(std::move(*raw), path);
  LineReader lines(**source);
  std::string_view line;
  while (lines.next(line) == LineReader::Next::line) {
    for (const auto& [name, kind] : kCounted) {
      const std::string mark = std::string(name) + ":";
      const size_t at = line.find(mark);
      if (at != line.npos && at > 0 && (line[at - 1] == ' ' || line[at - 1] == ':')) {
        ++of(counts, kind);
      }
    }
  }
  return counts;
}

std::vector<fs::path> files_below(const fs::path& dir, const std::vector<std::string>& endings) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(dir)) {
    const std::string name = entry.path().filename();
    if (std::any_of(endings.begin(), endings.end(),
                    [&](const std::string& e) { return name.ends_with(e); })) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

class Recordings : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(folder())) {
      GTEST_SKIP() << "no recordings at " << folder() << "; set RUNQLAB_SHARED_TRACES";
    }
  }
};

void expect_complete(const fs::path& path) {
  SCOPED_TRACE(path.string());
  Outcome o = import_whole(path);
  for (const auto& [kind, what] : o.diagnostics.kinds()) {
    ADD_FAILURE() << kind << ": " << what.count << ", first "
                  << (what.first.empty() ? "" : what.first[0].to_string());
  }
  EXPECT_TRUE(o.sorted);
  EXPECT_EQ(o.summary.lost_events, 0u);
  Counts expected = search(path);
  for (const auto& [name, kind] : kCounted)
    EXPECT_EQ(of(o.counts, kind), of(expected, kind)) << name;
}

TEST_F(Recordings, HostTextsAreReadWithoutALossOrAWarning) {
  const auto files = files_below(folder() / "host_6.18", {".trace.txt.xz", ".perf.txt.xz"});
  EXPECT_GE(files.size(), 50u);
  for (const fs::path& path : files) expect_complete(path);
}

TEST_F(Recordings, GuestTextsAreReadWithoutALossOrAWarning) {
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (!entry.path().filename().string().starts_with("guest_")) continue;
    for (const fs::path& path : files_below(entry.path(), {".trace.txt.xz"})) expect_complete(path);
  }
}

TEST_F(Recordings, CollectedTextsAreReadWithoutALossOrAWarning) {
  std::vector<fs::path> files =
      files_below(folder() / "files", {".script.txt.gz", ".report.txt.gz", ".systrace"});
  for (const fs::path& path : files_below(folder() / "files", {".txt"})) {
    if (path.filename().string().starts_with("trappy_")) files.push_back(path);
  }
  EXPECT_GE(files.size(), 14u);
  for (const fs::path& path : files) expect_complete(path);
}

// Counted with grep.
TEST_F(Recordings, LargeTraceCmdReport) {
  Outcome o = import_whole(folder() / "host_6.18/nginx_wrk8_hog1/nginx_wrk8_hog1.trace.txt.xz");
  EXPECT_EQ(o.summary.lines, 118'086u);
  EXPECT_EQ(o.summary.events, 118'085u);  // one line is "cpus=2"
  EXPECT_TRUE(o.summary.has_context);
  EXPECT_EQ(of(o.counts, EventKind::sched_switch), 19'118u);
  EXPECT_EQ(o.sleeps, 9'583u);
  EXPECT_EQ(of(o.counts, EventKind::sched_waking), 9'589u);
  EXPECT_EQ(of(o.counts, EventKind::sched_wakeup), 9'589u);
  EXPECT_EQ(of(o.counts, EventKind::sched_stat_runtime), 19'177u);
  EXPECT_EQ(of(o.counts, EventKind::softirq_entry), 19'453u);
  EXPECT_EQ(of(o.counts, EventKind::vector_entry), 1055u + 1u + 65u);
  EXPECT_EQ(of(o.counts, EventKind::hrtimer_expire), 66u);
  EXPECT_EQ(of(o.counts, EventKind::ipi_send), 1'056u);
}

TEST_F(Recordings, LargePerfScript) {
  Outcome o = import_whole(folder() / "host_6.18/pgbench_c4_tpcb/pgbench_c4_tpcb.perf.txt.xz");
  EXPECT_EQ(o.summary.format, Format::perf_script);
  EXPECT_EQ(o.summary.events, 57'848u);
  EXPECT_FALSE(o.summary.has_context);
  EXPECT_EQ(of(o.counts, EventKind::sched_switch), 21'934u);
  EXPECT_EQ(o.sleeps, 12'278u);
  EXPECT_EQ(of(o.counts, EventKind::sched_waking), 15'170u);
  EXPECT_EQ(of(o.counts, EventKind::sched_migrate_task), 123u);
  EXPECT_EQ(of(o.counts, EventKind::sched_stat_runtime), 20'621u);
}

TEST_F(Recordings, PerfScriptWithInterrupts) {
  Outcome o = import_whole(folder() / "files/local618/idle_ipi.script.txt.gz");
  EXPECT_EQ(o.summary.events, 1'738u);
  EXPECT_EQ(of(o.counts, EventKind::sched_switch), 817u);
  EXPECT_EQ(o.sleeps, 439u);
  EXPECT_EQ(of(o.counts, EventKind::sched_wakeup), 443u);
  EXPECT_EQ(of(o.counts, EventKind::vector_entry), 1u + 2u + 5u);
  EXPECT_EQ(of(o.counts, EventKind::cpu_idle), 6u);
  EXPECT_EQ(of(o.counts, EventKind::ipi_send), 3u);
}

// The same events by way of the kernel's format and by way of the plugin's.
TEST_F(Recordings, BothFormsOfAStateMeanTheSame) {
  const auto states = [](const fs::path& path) {
    std::map<TaskState, uint64_t> n;
    StringPool names;
    Diagnostics diagnostics;
    const auto summary = import_file(path, {}, names, diagnostics, [&](const Event& e) {
      if (e.kind == EventKind::sched_switch) ++n[e.state];
    });
    EXPECT_TRUE(summary.ok());
    return n;
  };
  const auto kernel = states(folder() / "files/local618/hackbench_thread_g2_l20.script.txt.gz");
  EXPECT_EQ(kernel, states(folder() / "files/tracedat/hackbench_thread_g2_l20.report.txt.gz"));
  EXPECT_EQ(kernel.at(TaskState::dead), 80u);
  EXPECT_EQ(kernel.at(TaskState::zombie), 1u);
  EXPECT_EQ(kernel.at(TaskState::idle), 11u);
}

}  // namespace
}  // namespace runqlab::trace
