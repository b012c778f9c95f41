// From recordings to programs: each rule on a few lines, then what must hold for whole recordings.
#include "trace/replay.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "analysis/arm_run.h"
#include "base/rng.h"
#include "trace/import/byte_source.h"
#include "trace/import/decompress.h"

namespace runqlab::trace {
namespace {

using namespace literals;
using Lines = std::vector<std::string>;

// Writes a text in the form of `trace-cmd report`, line by line; times are in microseconds.
class Text {
 public:
  Text& at(int64_t us) {
    now_ = us;
    return *this;
  }
  // `who` is "comm-pid", `flags` as ftrace prints them.
  Text& event(int cpu, const std::string& who, const std::string& flags, const std::string& what) {
    text_ += fmt::format("{:>16}  {:>4}{}  {:>3}.{:06}000: {}\n", who, cpu, flags,
                         1 + now_ / 1'000'000, now_ % 1'000'000, what);
    return *this;
  }
  Text& task_event(int cpu, const std::string& who, const std::string& what) {
    return event(cpu, who, "d..2.", what);
  }
  Text& switches(int cpu, const std::string& prev, char state, const std::string& next) {
    return event(
        cpu, of(prev), "d..2.",
        fmt::format("sched_switch: {} [120] {} ==> {} [120]", colon(prev), state, colon(next)));
  }
  Text& wakes(int cpu, const std::string& waker, const std::string& wakee,
              const std::string& flags = "d..3.") {
    const size_t dash = wakee.rfind('-');
    return event(cpu, of(waker), flags,
                 fmt::format("sched_waking: comm={} pid={} prio=120 target_cpu=000",
                             wakee.substr(0, dash), wakee.substr(dash + 1)));
  }
  // In the handler of a timer interrupt that hits `current`.
  Text& timer_wakes(int cpu, const std::string& current, const std::string& wakee) {
    event(cpu, of(current), "d.h1.", "local_timer_entry: vector=236");
    event(cpu, of(current), "d.h1.",
          "hrtimer_expire_entry: hrtimer=0x1 now=1 function=hrtimer_wakeup/0x0");
    return wakes(cpu, current, wakee, "d.h3.");
  }
  [[nodiscard]] const std::string& str() const { return text_; }

 private:
  static std::string of(const std::string& who) {
    return who.starts_with("swapper") ? "<idle>-0" : who;
  }
  static std::string colon(std::string who) {
    who[who.rfind('-')] = ':';
    return who;
  }
  std::string text_ = "cpus=2\n";
  int64_t now_ = 0;
};

struct Loaded {
  Result<Replay> replay = Error{};
  Diagnostics diagnostics;

  // The program of a task in words: "run 100 us", "block", "wake B", …
  [[nodiscard]] Lines program(const std::string& task) const {
    const Workload& w = replay->workload;
    for (size_t i = 0; i < w.tasks.size(); ++i) {
      if (w.tasks[TaskId::of(i)].name == task) return words((*replay->programs)[i]);
    }
    return {"no such task"};
  }
  [[nodiscard]] Lines words(const std::vector<Op>& ops) const {
    const Workload& w = replay->workload;
    Lines lines;
    for (const Op& o : ops) {
      const double us = static_cast<double>(o.amount) / 1000;
      const auto name = [&] { return w.tasks[TaskId(o.target)].name; };
      switch (o.kind) {
        case OpKind::run:
          lines.push_back(fmt::format("run {} us", us));
          break;
        case OpKind::wake:
          lines.push_back(fmt::format("wake {}{}", name(), o.sync ? " sync" : ""));
          break;
        case OpKind::block:
          lines.emplace_back("block");
          break;
        case OpKind::sleep:
          lines.push_back(fmt::format("sleep {} us", us));
          break;
        case OpKind::sleep_until:
          lines.push_back(fmt::format("sleep until {} us", us));
          break;
        case OpKind::yield:
          lines.emplace_back("yield");
          break;
        case OpKind::fork:
          lines.push_back(fmt::format("fork {}", name()));
          break;
        case OpKind::set_affinity:
          lines.push_back("affinity " + w.cpu_lists[o.target]);
          break;
        case OpKind::set_sched:
          lines.push_back(fmt::format("sched {} {}", name(), o.amount));
          break;
        default:
          lines.emplace_back("?");
          break;
      }
    }
    return lines;
  }
};

const machine::MachineSpec& free_machine() {
  static const machine::MachineSpec m = [] {
    auto spec = machine::load_machine("pack:1 l3:1 core:2 pu:1").value();
    for (const machine::CostInfo& info : machine::cost_table()) spec.costs.*info.field = {};
    return spec;
  }();
  return m;
}

struct NoSink : RecordSink {
  void consume(std::span<const Record>) override {}
};

Loaded load(const std::string& text, const ReplayOptions& options = {},
            const machine::MachineSpec& machine = free_machine()) {
  const std::string name = fmt::format("{}/replay_test.{}", testing::TempDir(), getpid());
  std::ofstream(name, std::ios::binary) << text;
  Loaded l;
  NoSink none;
  l.replay = load_replay(name, machine, options, none, l.diagnostics);
  std::filesystem::remove(name);
  return l;
}

TEST(ReplayRules, RunsBetweenBlocksAreJoinedOverPreemptions) {
  Text t;
  t.at(0).switches(0, "swapper-0", 'R', "A-1");
  t.at(100).event(0, "A-1", "dN.2.", "sched_stat_runtime: comm=A pid=1 runtime=100000 [ns]");
  t.at(100).switches(0, "A-1", 'R', "B-2");
  t.at(150).switches(0, "B-2", 'S', "A-1");
  t.at(200).switches(0, "A-1", 'S', "swapper-0");
  t.at(500).timer_wakes(0, "swapper-0", "A-1");
  t.at(510).switches(0, "swapper-0", 'R', "A-1");
  t.at(530).switches(0, "A-1", 'X', "swapper-0");
  const Loaded l = load(t.str());
  ASSERT_TRUE(l.replay.ok()) << l.replay.error().to_string();
  EXPECT_EQ(l.program("A"), (Lines{"run 150 us", "sleep 300 us", "run 20 us"}));
  EXPECT_EQ(l.program("B"), (Lines{"run 50 us", "block", "block"}));
  EXPECT_EQ(l.replay->counts.timers, 1U);
}

TEST(ReplayRules, AWakeupIsAnEdgeAtTheWakersProgress) {
  Text t;
  t.at(0).switches(0, "swapper-0", 'R', "A-1");
  t.at(0).switches(1, "swapper-0", 'R', "B-2");
  t.at(10).switches(1, "B-2", 'S', "swapper-0");
  t.at(70).wakes(0, "A-1", "B-2");
  t.at(80).switches(1, "swapper-0", 'R', "B-2");
  t.at(90).switches(0, "A-1", 'S', "swapper-0");
  t.at(95).switches(1, "B-2", 'X', "swapper-0");
  const Loaded l = load(t.str());
  ASSERT_TRUE(l.replay.ok());
  // A sleeps right after its wakeup, which keeps the promise of WF_SYNC.
  EXPECT_EQ(l.program("A"), (Lines{"run 70 us", "wake B sync", "run 20 us", "block", "block"}));
  EXPECT_EQ(l.program("B"), (Lines{"run 10 us", "block", "run 15 us"}));
  EXPECT_EQ(l.replay->counts.task_edges, 1U);
  const Loaded never = load(t.str(), {.sync_hint = SyncHint::never});
  EXPECT_EQ(never.program("A")[1], "wake B");
}

TEST(ReplayRules, AWakeupBeforeTheSwitchOutBelongsToThatBlock) {
  Text t;
  t.at(0).switches(0, "swapper-0", 'R', "A-1");
  t.at(0).switches(1, "swapper-0", 'R', "B-2");
  t.at(9).wakes(0, "A-1", "B-2");
  t.at(10).switches(1, "B-2", 'S', "swapper-0");
  t.at(20).switches(1, "swapper-0", 'R', "B-2");
  t.at(30).switches(1, "B-2", 'X', "swapper-0");
  const Loaded l = load(t.str());
  ASSERT_TRUE(l.replay.ok());
  EXPECT_EQ(l.program("B"), (Lines{"run 10 us", "block", "run 10 us"}));
  EXPECT_EQ(l.replay->counts.task_edges, 1U);
  EXPECT_EQ(l.diagnostics.total(Severity::repair), 0U);
}

// Text of `perf sched record` has no flags: whoever runs seems to be the waker.
std::string without_flags(const char* hog_sleeps) {
  std::string text;
  const auto line = [&](const char* comm, int pid, int us, const std::string& event) {
    text += fmt::format("{} {} [000] 1.{:06}: sched:{}\n", comm, pid, us, event);
  };
  const auto switches = [&](const char* from, int pid, const char* state, const char* to, int next,
                            int us) {
    line(from, pid, us,
         fmt::format("sched_switch: prev_comm={} prev_pid={} prev_prio=120 prev_state={} ==> "
                     "next_comm={} next_pid={} next_prio=120",
                     from, pid, state, to, next));
  };
  for (int k = 0; k < 3; ++k) {
    const int t = 1000 * k;
    switches("S", 1, "S", "H", 2, t + 100);
    line("H", 2, t + 1000, "sched_waking: comm=S pid=1 prio=120 target_cpu=000");
    switches("H", 2, k == 2 ? hog_sleeps : "R", "S", 1, t + 1000);
  }
  return text;
}

TEST(ReplayRules, WithoutFlagsAHogWakesNobody) {
  const Loaded hog = load(without_flags("R"));
  ASSERT_TRUE(hog.replay.ok()) << hog.replay.error().to_string();
  EXPECT_EQ(hog.replay->counts.over_tasks, 3U);
  EXPECT_EQ(hog.replay->counts.timers, 3U);
  EXPECT_EQ(hog.program("H"), (Lines{"run 2700 us", "block"}));
  const Loaded waker = load(without_flags("S"));
  EXPECT_EQ(waker.replay->counts.over_tasks, 0U);
  EXPECT_EQ(waker.replay->counts.task_edges, 3U);
}

TEST(ReplayRules, AWakeupThatEndsNoBlockIsLeftOut) {
  Text t;
  t.at(0).switches(0, "swapper-0", 'R', "A-1");
  t.at(0).switches(1, "swapper-0", 'R', "B-2");
  t.at(9).wakes(0, "A-1", "B-2");
  t.at(10).switches(1, "B-2", 'R', "C-3");
  t.at(20).switches(1, "C-3", 'S', "B-2");
  t.at(30).switches(1, "B-2", 'X', "swapper-0");
  t.at(40).switches(0, "A-1", 'X', "swapper-0");
  const Loaded l = load(t.str());
  ASSERT_TRUE(l.replay.ok());
  EXPECT_EQ(l.program("A"), (Lines{"run 40 us"}));
  EXPECT_EQ(l.replay->counts.not_blocked, 1U);
}

TEST(ReplayRules, AnOwnRequestIsRelativeAndAnArrivalAbsolute) {
  Text t;
  t.at(0).switches(0, "swapper-0", 'R', "disk-1");
  t.at(0).switches(1, "swapper-0", 'R', "net-2");
  t.at(10).switches(0, "disk-1", 'D', "swapper-0");
  t.at(10).switches(1, "net-2", 'S', "swapper-0");
  t.at(60).event(1, "<idle>-0", "d.h1.", "irq_handler_entry: irq=36 name=virtio");
  t.at(61).wakes(1, "swapper-0", "disk-1", "d.h3.");
  t.at(62).event(1, "<idle>-0", "d.h1.", "irq_handler_exit: irq=36 ret=handled");
  t.at(70).switches(0, "swapper-0", 'R', "disk-1");
  t.at(80).switches(0, "disk-1", 'X', "swapper-0");
  t.at(90).event(0, "<idle>-0", "d.h1.", "irq_handler_entry: irq=37 name=eth0");
  t.at(91).wakes(0, "swapper-0", "net-2", "d.h3.");
  t.at(92).event(0, "<idle>-0", "d.h1.", "irq_handler_exit: irq=37 ret=handled");
  t.at(95).switches(1, "swapper-0", 'R', "net-2");
  t.at(99).switches(1, "net-2", 'X', "swapper-0");
  const Loaded l = load(t.str());
  ASSERT_TRUE(l.replay.ok());
  EXPECT_EQ(l.program("disk"), (Lines{"run 10 us", "sleep 51 us", "run 10 us"}));
  EXPECT_EQ(l.program("net"), (Lines{"run 10 us", "block", "run 4 us"}));
  ASSERT_EQ(l.replay->workload.arrivals.size(), 1U);
  EXPECT_EQ(l.replay->workload.arrivals[0].time, SimTime{} + 91_us);
  EXPECT_EQ(l.replay->workload.arrivals[0].cpu, CpuId(0));
  const Loaded absolute = load(t.str(), {.irq_wakeups = IrqWakeups::absolute});
  EXPECT_EQ(absolute.replay->counts.arrivals, 2U);
  const Loaded relative = load(t.str(), {.irq_wakeups = IrqWakeups::relative});
  EXPECT_EQ(relative.replay->counts.arrivals, 0U);
}

TEST(ReplayRules, ALoopbackSendWakesInTheNameOfTheSender) {
  Text t;
  t.at(0).switches(0, "swapper-0", 'R', "client-1");
  t.at(0).switches(1, "swapper-0", 'R', "server-2");
  t.at(10).switches(1, "server-2", 'S', "swapper-0");
  t.at(20).event(0, "client-1", "d..1.", "softirq_raise: vec=3 [action=NET_RX]");
  t.at(21).event(0, "client-1", "..s1.", "softirq_entry: vec=3 [action=NET_RX]");
  t.at(25).wakes(0, "client-1", "server-2", "d.s3.");
  t.at(27).event(0, "client-1", "..s1.", "softirq_exit: vec=3 [action=NET_RX]");
  t.at(30).switches(1, "swapper-0", 'R', "server-2");
  t.at(40).switches(0, "client-1", 'X', "swapper-0");
  t.at(50).switches(1, "server-2", 'X', "swapper-0");
  const Loaded l = load(t.str());
  ASSERT_TRUE(l.replay.ok());
  EXPECT_EQ(l.program("client"), (Lines{"run 25 us", "wake server", "run 15 us"}));
  EXPECT_EQ(l.replay->counts.softirq_edges, 1U);
}

TEST(ReplayRules, InterruptTimeIsTakenOutOfTheBurst) {
  Text t;
  t.at(0).switches(0, "swapper-0", 'R', "A-1");
  t.at(20).event(0, "A-1", "d.h1.", "irq_handler_entry: irq=36 name=virtio");
  t.at(50).event(0, "A-1", "d.h1.", "irq_handler_exit: irq=36 ret=handled");
  t.at(100).switches(0, "A-1", 'X', "swapper-0");
  const Loaded l = load(t.str());
  ASSERT_TRUE(l.replay.ok());
  EXPECT_EQ(l.program("A"), (Lines{"run 70 us"}));
}

TEST(ReplayRules, CostsOfTheRecordedMachineAreTakenOut) {
  machine::MachineSpec machine = free_machine();
  machine.costs.context_switch_ns = 2_us;
  machine.costs.wakeup_ns = 3_us;
  Text t;
  t.at(0).switches(1, "swapper-0", 'R', "C-3");
  t.at(5).switches(0, "swapper-0", 'R', "A-1");
  t.at(10).switches(0, "A-1", 'S', "B-2");
  t.at(20).wakes(0, "B-2", "A-1");
  t.at(50).switches(0, "B-2", 'S', "A-1");
  t.at(60).switches(0, "A-1", 'X', "swapper-0");
  EXPECT_EQ(load(t.str(), {}, machine).program("B"),
            (Lines{"run 8 us", "wake A sync", "run 27 us", "block", "block"}));
  EXPECT_EQ(load(t.str(), {.cost_correction_pct = 0}, machine).program("B"),
            (Lines{"run 10 us", "wake A sync", "run 30 us", "block", "block"}));
}

TEST(ReplayRules, ATaskThatTheStopperMovedHadExcludedItsCpu) {
  Text t;
  t.at(0).switches(1, "swapper-0", 'R', "A-1");
  t.at(10).event(1, "A-1", "d..4.", "sched_waking: comm=migration/1 pid=21 prio=0 target_cpu=001");
  t.at(11).event(1, "A-1", "d..2.", "sched_switch: A:1 [120] D ==> migration/1:21 [0]");
  t.at(12).event(1, "migration/1-21", "d..3.",
                 "sched_migrate_task: comm=A pid=1 prio=120 orig_cpu=1 dest_cpu=0");
  t.at(13).wakes(1, "migration/1-21", "A-1");
  t.at(14).event(1, "migration/1-21", "d..2.",
                 "sched_switch: migration/1:21 [0] S ==> swapper/1:0 [120]");
  t.at(20).switches(0, "swapper-0", 'R', "A-1");
  t.at(30).switches(0, "A-1", 'X', "swapper-0");
  const Loaded l = load(t.str());
  ASSERT_TRUE(l.replay.ok());
  EXPECT_EQ(l.program("A"), (Lines{"run 10 us", "wake migration/1 sync", "run 1 us", "affinity 0",
                                   "block", "run 10 us"}));
  EXPECT_EQ(l.replay->workload.tasks[TaskId(0)].policy == Policy::stop ||
                l.replay->workload.tasks[TaskId(1)].policy == Policy::stop,
            true);
}

TEST(ReplayRules, EvenWakeupsAfterUnevenWorkAreOnAClock) {
  Text t;
  t.at(0).switches(0, "swapper-0", 'R', "A-1");
  for (int i = 0; i < 8; ++i) {
    t.at(10'000 * i + 500 * (i % 4) + 600).switches(0, "A-1", 'S', "swapper-0");
    t.at(10'000 * (i + 1)).timer_wakes(0, "swapper-0", "A-1");
    t.at(10'000 * (i + 1)).switches(0, "swapper-0", 'R', "A-1");
  }
  t.at(90'000).switches(0, "A-1", 'X', "swapper-0");
  const Loaded l = load(t.str());
  ASSERT_TRUE(l.replay.ok());
  EXPECT_EQ(l.replay->counts.periodic, 8U);
  EXPECT_EQ(l.program("A")[1], "sleep until 10000 us");
  EXPECT_EQ(l.program("A")[3], "sleep until 20000 us");
  EXPECT_EQ(load(t.str(), {.irq_wakeups = IrqWakeups::relative}).replay->counts.periodic, 0U);
}

TEST(ReplayRules, ForkedTasksStartWithTheirFork) {
  Text t;
  t.at(0).switches(0, "swapper-0", 'R', "sh-1");
  t.at(10).event(0, "sh-1", ".....", "sched_process_fork: comm=sh pid=1 child_comm=sh child_pid=9");
  t.at(20).switches(0, "sh-1", 'S', "kid-9");
  t.at(30).switches(0, "kid-9", 'X', "swapper-0");
  const Loaded l = load(t.str());
  ASSERT_TRUE(l.replay.ok());
  EXPECT_EQ(l.program("sh"), (Lines{"run 10 us", "fork kid", "run 10 us", "block", "block"}));
  EXPECT_EQ(l.program("kid"), (Lines{"run 10 us"}));
}

TEST(ReplayErrors, SayWhatToDo) {
  EXPECT_EQ(load("").replay.error().message, "the file is empty");
  const Error none =
      load(Text().event(0, "A-1", "d..2.", "sched_stat_runtime: comm=A pid=1 runtime=1 [ns]").str())
          .replay.error();
  EXPECT_EQ(none.message, "the recording holds no sched_switch event with a CPU");
  EXPECT_NE(none.hint.find("perf sched record"), std::string::npos);
}

TEST(ReplayErrors, AnomaliesAreRepairedAndCounted) {
  Text t;
  t.at(0).switches(0, "swapper-0", 'R', "A-1");
  t.at(10).switches(0, "B-2", 'S', "C-3");  // B was not running
  t.at(20).switches(0, "C-3", 'S', "A-1");
  t.at(30).switches(1, "swapper-0", 'R', "A-1");  // on two CPUs at once
  t.at(40).switches(1, "A-1", 'X', "A-1");        // itself
  t.at(50).switches(1, "A-1", 'X', "swapper-0");
  const Loaded l = load(t.str());
  ASSERT_TRUE(l.replay.ok());
  EXPECT_GT(l.diagnostics.total(Severity::repair), 0U);
}

// --- Whole recordings -------------------------------------------------------------------------

std::string recording(const std::string& name) {
  const std::string path =
      std::string(RUNQLAB_TEST_DATA) + "/recordings/host_6.18/" + name + ".trace.txt.xz";
  auto source = decompressed(open_file(path).value(), path).value();
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (const size_t n = source->read(buffer).value()) text.append(buffer.data(), n);
  return text;
}

// Applies `change` to each line; a line it empties is left out.
template <class F>
std::string each_line(const std::string& text, F change) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    change(line);
    if (!line.empty()) out += line + "\n";
    at = end + 1;
  }
  return out;
}

class WholeRecording : public testing::TestWithParam<const char*> {};

TEST_P(WholeRecording, SchedWakeupAddsNothing) {
  const std::string text = recording(GetParam());
  const std::string without = each_line(text, [](std::string& line) {
    if (line.find(" sched_wakeup: ") != std::string::npos) line.clear();
  });
  ASSERT_LT(without.size(), text.size());
  const auto vm = machine::load_machine("vm-2").value();
  const Loaded a = load(text, {}, vm), b = load(without, {}, vm);
  ASSERT_TRUE(a.replay.ok() && b.replay.ok());
  EXPECT_EQ(a.replay->workload.content_hash, b.replay->workload.content_hash);
}

// The re-run is free: where the recorded wakeups went does not enter it.
TEST_P(WholeRecording, CpusOfWakeupsDoNotEnter) {
  const std::string text = recording(GetParam());
  Rng rng(7);
  auto draw = rng.stream("cpus", 0);
  const auto set_cpu = [&](std::string& line, const std::string& key) {
    const size_t at = line.find(key);
    if (at == std::string::npos) return;
    const size_t digits = line.find_last_of("0123456789");
    line[digits] = static_cast<char>('0' + draw.below(2));
  };
  const std::string permuted = each_line(text, [&](std::string& line) {
    if (line.find(" sched_waking: ") != std::string::npos) set_cpu(line, "target_cpu=");
    if (line.find(" sched_wakeup: ") != std::string::npos) set_cpu(line, " CPU:");
  });
  ASSERT_NE(permuted, text);
  const auto vm = machine::load_machine("vm-2").value();
  const Loaded a = load(text, {}, vm), b = load(permuted, {}, vm);
  ASSERT_TRUE(a.replay.ok() && b.replay.ok());
  EXPECT_EQ(a.replay->workload.content_hash, b.replay->workload.content_hash);
  const auto kernel = sched::kernel_of("6.18.44").value();
  const auto hash = [&](const Loaded& l) {
    return analysis::run_arm({.machine = vm, .kernel = kernel, .tracing = l.replay->tracing},
                             l.replay->workload, false)
        .result.state_hash;
  };
  EXPECT_EQ(hash(a), hash(b));
}

INSTANTIATE_TEST_SUITE_P(Host618, WholeRecording,
                         testing::Values("ring6_tok2_seed1", "mix_hogs_sleepers", "forks_par4",
                                         "cyclictest_2hogs", "mutex4_pi_fifo"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace runqlab::trace
