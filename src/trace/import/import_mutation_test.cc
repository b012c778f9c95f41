// Random damage to good lines: the import ends, and what it delivers is within bounds. Run it under
// AddressSanitizer and UBSan.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/rng.h"
#include "trace/import/import.h"

namespace runqlab::trace {
namespace {

const std::vector<std::string>& good_lines() {
  static const std::vector<std::string> lines = {
      ("          worker    11/12    [003]  5.000000007:  sched:sched_switch: prev_comm=a b "
       "prev_pid=12 prev_prio=120 prev_state=R+ ==> next_comm=c next_pid=4 next_prio=98\n"),
      "   wo-12    [003] d.h2.  5.000007: sched_waking: comm=x y pid=5 prio=120 target_cpu=003\n",
      "   worker-12      3dN.2.  5.000007001: sched_switch:   a:12 [120] S ==> swapper/3:0 [120]\n",
      "   worker-12    (   11) [003] d..h2.. 5.000008: sched_wakeup: x:5 [120] success=1 CPU:003\n",
      ("a-1 [003] 5.000009: sched_switch: [FAILED TO PARSE] prev_comm=ARRAY[61] prev_pid=1 "
       "prev_prio=120 prev_state=0x402 next_comm=b next_pid=2 next_prio=98\n"),
      "a-1 [003] 5.000010: sched_process_fork: comm=a pid=5 child_comm=b child_pid=6\n",
      "a-1 [003] 5.000011: sched_process_exec: filename=/usr/bin/x pid=5 old_pid=6\n",
      "a-1 [003] 5.000012: sched_migrate_task: comm=a pid=5 prio=120 orig_cpu=1 dest_cpu=2\n",
      "a-1 [003] 5.000013: sched_stat_runtime: comm=a pid=5 runtime=77 [ns] vruntime=99 [ns]\n",
      "a-1 [003] d.h1. 5.000014: hrtimer_expire_entry: hrtimer=0x1 function=hrtimer_wakeup now=1\n",
      "a-1 [003] d.h1. 5.000015: local_timer_entry: vector=236\n",
      "a-1 [003] d.h1. 5.000016: cpu_idle: state=4294967295 cpu_id=3\n",
      "# entries-in-buffer/entries-written: 2/12   #P:4\r\n",
      "CPU:1 [LOST 40 EVENTS]\n",
      "cpus=8\n",
      "\tffffffff81000000 try_to_wake_up+0x1 ([kernel.kallsyms])\n",
  };
  return lines;
}

std::string some_lines(RandomStream& r) {
  std::string text;
  for (uint64_t n = r.below(12) + 1; n > 0; --n) text += good_lines()[r.below(good_lines().size())];
  return text;
}

void damage(std::string& text, RandomStream& r) {
  const auto at = [&] { return static_cast<size_t>(r.below(text.size() + 1)); };
  switch (r.below(7)) {
    case 0:  // one bit
      if (!text.empty()) text[at() % text.size()] ^= static_cast<char>(1 << r.below(8));
      break;
    case 1:  // the end is gone
      text.resize(at());
      break;
    case 2: {  // a piece a second time, somewhere else
      const size_t from = at();
      const std::string piece = text.substr(from, static_cast<size_t>(r.below(60)));
      text.insert(at(), piece);
      break;
    }
    case 3:  // a piece is gone
      text.erase(at(), static_cast<size_t>(r.below(20)));
      break;
    case 4:  // digits without end
      text.insert(at(), static_cast<size_t>(r.below(30)), static_cast<char>('0' + r.below(10)));
      break;
    case 5:  // what the parser looks for
      text.insert(at(), std::vector<std::string>{
                            " ==> ", "=", "[", "]", ":", " ", "-", ".", "\n", "/", "\r", "0x",
                            " next_comm=", " CPU:", "1.000000: ", " success=", "|"}[r.below(17)]);
      break;
    default:  // any byte
      text.insert(at(), 1, static_cast<char>(r.below(256)));
  }
}

TEST(ImportMutation, DamagedLinesDoNoHarm) {
  const Rng rng(7);
  uint64_t delivered = 0, refused = 0;
  for (uint64_t round = 0; round < 20'000; ++round) {
    RandomStream r = rng.stream("damage", round);
    std::string text = some_lines(r);
    for (uint64_t n = r.below(10); n > 0; --n) damage(text, r);

    StringPool names;
    Diagnostics diagnostics;
    uint64_t seen = 0;
    const auto summary = import_text(text, "damaged", {}, names, diagnostics, [&](const Event& e) {
      ++seen;
      ASSERT_GE(e.time_ns, 0);
      ASSERT_GE(e.pid, -1);
      ASSERT_GE(e.task_pid, -1);
      ASSERT_GE(e.other_pid, -1);
      for (const StrId id : {e.comm, e.task_comm, e.other_comm, e.name}) {
        ASSERT_TRUE(!id.valid() || id.index() < names.size());
      }
      ASSERT_TRUE(e.kind != EventKind::sched_waking || e.target.valid());
    });
    if (!summary) {
      ++refused;
      ASSERT_EQ(seen, 0u);
      ASSERT_NE(summary.error().message, "");
      continue;
    }
    ASSERT_EQ(summary->events, seen);
    ASSERT_LE(seen + diagnostics.total(Severity::skipped), summary->lines);
    delivered += seen;
  }
  EXPECT_GT(delivered, 40'000u);  // the damage leaves most lines readable
  EXPECT_GT(refused, 100u);
}

// Lines of the parsers' own marks: in quadratic time these would take minutes.
TEST(ImportMutation, LongLinesOfMarksAreReadInLinearTime) {
  const std::string heads[] = {
      "", "a-1 [003] 5.000001: sched_switch: ", "a-1 [003] 5.000001: sched_process_fork: ",
      "a-1 [003] 5.000001: sched_wakeup: ", "a 1 [003] 5.000001: a:b: "};
  const std::string pieces[] = {" 1.000000:",
                                ") [1] 1.000000:",
                                "1 1.000000: ",
                                "a:1 [2] S ==> ",
                                "]",
                                " next_comm=",
                                " prev_state=S ==> next_comm=",
                                " CPU:1",
                                "=",
                                " pid=1 child_comm=",
                                "1",
                                ".",
                                " "};
  for (const std::string& head : heads) {
    for (const std::string& piece : pieces) {
      std::string text;
      for (int line = 0; line < 3; ++line) {
        text += head;
        for (size_t n = 0; n < 60'000; n += piece.size()) text += piece;
        text += '\n';
      }
      text += "a-1 [003] 5.000016: cpu_idle: state=1 cpu_id=3\n";
      StringPool names;
      Diagnostics diagnostics;
      (void)import_text(text, "marks", {}, names, diagnostics, [](const Event&) {});
    }
  }
}

}  // namespace
}  // namespace runqlab::trace
