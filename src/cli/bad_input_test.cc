// What people and files can get wrong: each is refused with what, where and what to do, or
// repaired, counted and reported.
#include <nlohmann/json.hpp>

#include "cli/cli_harness.h"

namespace runqlab::cli {
namespace {

struct Event {
  std::string comm;
  int pid;
  std::string time, what;
};

std::string line(const Event& e) {
  return " " + e.comm + "-" + std::to_string(e.pid) + "  0d..2.  " + e.time + ": " + e.what + "\n";
}

// Two tasks that take turns on CPU 0; `first` is the comm of one of them.
std::string two_tasks(const std::string& first = "first") {
  std::string text = "cpus=1\n";
  for (int i = 0; i < 8; ++i) {
    const std::string at = "1.0" + std::to_string(10 + 4 * i);
    text +=
        line({first, 100, at + "000", "sched_waking: comm=second pid=101 prio=120 target_cpu=000"});
    text += line(
        {first, 100, at + "100", "sched_switch: " + first + ":100 [120] S ==> second:101 [120]"});
    text += line({"second", 101, at + "500",
                  "sched_waking: comm=" + first + " pid=100 prio=120 target_cpu=000"});
    text += line({"second", 101, at + "600",
                  "sched_switch: second:101 [120] S ==> " + first + ":100 [120]"});
  }
  return text;
}

class BadRecording : public testing::Test {
 protected:
  Outcome replay(const std::string& text, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"replay", folder_.write("rec.txt", text)});
    return call(more);
  }
  Folder folder_;
};

TEST_F(BadRecording, TheGoodOneIsReplayed) {
  const Outcome o = replay(two_tasks());
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_FALSE(has(o.out, "warning")) << o.out;
}

TEST_F(BadRecording, NoEventsAtAll) {
  for (const std::string text : {"", "\n", "cpus=2\n", "hello\nworld\n"}) {
    const Outcome o = replay(text);
    EXPECT_EQ(o.code, 3);
    EXPECT_HAS(o.err, "rec.txt");
    EXPECT_EQ(o.out, "");
  }
}

TEST_F(BadRecording, NoSuchFileAndAFolder) {
  for (const std::string& path : {folder_.path("none.txt"), folder_.path("")}) {
    const Outcome o = call({"replay", path});
    EXPECT_EQ(o.code, 3);
    EXPECT_HAS(o.err, path);
  }
}

TEST_F(BadRecording, NoNewlineAtTheEnd) {
  std::string text = two_tasks();
  text.pop_back();
  const Outcome o = replay(text);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_FALSE(has(o.out, "warning")) << o.out;
}

TEST_F(BadRecording, LinesOutOfOrderAreSorted) {
  const std::string text = two_tasks(), head = "cpus=1\n";
  std::vector<std::string> lines;
  for (size_t from = head.size(), to; (to = text.find('\n', from)) != text.npos; from = to + 1) {
    lines.push_back(text.substr(from, to + 1 - from));
  }
  std::string mixed = head;
  for (size_t i = 0; i < lines.size(); ++i) mixed += lines[i ^ 1U];
  EXPECT_EQ(replay(mixed).out, replay(text).out);
}

// A task acts that no switch has brought in.
TEST_F(BadRecording, AMissingSwitchIsPutInAndCounted) {
  const std::string text =
      two_tasks() +
      line({"third", 102, "1.060000", "sched_waking: comm=first pid=100 prio=120 target_cpu=000"});
  const Outcome o = replay(text);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_HAS(o.out, "warning     1 switches that are missing");
  EXPECT_HAS(o.out, "rec.txt:34");
  const Outcome strict = replay(text, {"--strict"});
  EXPECT_EQ(strict.code, 3);
  EXPECT_HAS(strict.err, "--strict");
}

TEST_F(BadRecording, EventsWithoutACpuAreNoRecording) {
  const Outcome o = replay(
      "first   100 1.000000: sched:sched_switch: prev_comm=a prev_pid=1 "
      "prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120\n");
  EXPECT_EQ(o.code, 3) << o.out;
  EXPECT_HAS(o.err, "with a CPU");
}

TEST_F(BadRecording, LostEventsAreReported) {
  const std::string text = two_tasks();
  const size_t at = text.find('\n', text.size() / 2) + 1;
  const Outcome o = replay(text.substr(0, at) + "CPU:0 [LOST 12 EVENTS]\n" + text.substr(at));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_HAS(o.out, "warning");
}

TEST_F(BadRecording, EventsThatTheRecorderCouldNotParseAreCounted) {
  const Outcome o =
      replay(two_tasks() + line({"first", 100, "1.060000",
                                 "sched_switch: [FAILED TO PARSE] prev_comm=first prev_pid=1"}));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_HAS(o.out, "warning");
  EXPECT_HAS(o.out, "rec.txt:34");
}

TEST_F(BadRecording, NumbersOutOfRange) {
  for (const std::string what :
       {"sched_waking: comm=a pid=99999999999999999999 prio=120 target_cpu=000",
        "sched_waking: comm=a pid=7 prio=120 target_cpu=70000",
        "sched_switch: first:100 [99999] S ==> x:-3 [120]"}) {
    const Outcome o = replay(two_tasks() + line({"first", 100, "1.060000", what}));
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_HAS(o.out, "warning");
  }
  const Outcome late =
      replay(two_tasks() + line({"first", 100, "99999.000000",
                                 "sched_switch: first:100 [120] S ==> second:101 [120]"}));
  EXPECT_EQ(late.code, 3);
  EXPECT_HAS(late.err, "rec.txt:34");
  EXPECT_HAS(late.err, "--time");
}

TEST_F(BadRecording, NamesWithAnythingInThem) {
  for (const std::string comm :
       {"my task", "a:b", "x]y", "[120]", "a-7", "==>", "NetworkManager: x"}) {
    const Outcome o = replay(two_tasks(comm), {"--by", "task"});
    EXPECT_EQ(o.code, 0) << comm << o.err;
    EXPECT_HAS(o.out, comm + ":100");
  }
}

TEST_F(BadRecording, NamesThatAreNotTextAreReplaced) {
  const std::string comm = "\x1b[2Jcaf\xe9";
  const Outcome text = replay(two_tasks(comm));
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_HAS(text.out, "?[2Jcaf?");
  EXPECT_FALSE(has(text.out, "\x1b"));
  const Outcome json = replay(two_tasks(comm), {"--json", "--b", "NO_WAKEUP_PREEMPTION"});
  EXPECT_EQ(json.code, 0) << json.err;
  const auto parsed = nlohmann::json::parse(json.out, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << json.out;
}

TEST_F(BadRecording, CutOffPackedFiles) {
  const std::string xz =
      read_all(RUNQLAB_TEST_DATA "/recordings/host_6.18/rtapp_example2.trace.txt.xz");
  const Outcome o = call({"replay", folder_.write("cut.xz", xz.substr(0, xz.size() / 2))});
  EXPECT_EQ(o.code, 3);
  EXPECT_HAS(o.err, "cut.xz");
  for (const std::string magic : {"\x1f\x8b\x08", "\x28\xb5\x2f\xfd",
                                  "\xfd"
                                  "7zXZ"}) {
    const Outcome bad = call({"replay", folder_.write("bad.z", magic + "xxxxxxxxxxxxxxxx")});
    EXPECT_EQ(bad.code, 3);
    EXPECT_HAS(bad.err, "bad.z");
  }
}

TEST_F(BadRecording, WindowsAndNamesThatMatchNothing) {
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--time", "5,6"},
                                             {"--time", "2,1"},
                                             {"--time", "x"},
                                             {"--comm", "frist"},
                                             {"--affinity", "frist=0"},
                                             {"--affinity", "first=7"},
                                             {"--affinity", "first=99999999999"},
                                             {"--affinity", "first"},
                                             {"--fail-if", "p99>5"},
                                             {"--fail-if", "p99>+5%"},
                                             {"-o", folder_.path("rec.txt")},
                                             {"-o", folder_.path("no/such/folder")}}) {
    const Outcome o = replay(two_tasks(), more);
    EXPECT_EQ(o.code, 3) << more[0] << ' ' << more[1] << o.out;
    EXPECT_TRUE(o.err.starts_with("runqlab: ")) << o.err;
  }
}

TEST(BadArms, EachIsRefusedWithAHint) {
  const std::vector<std::pair<std::string, std::string>> kArms = {
      {"NO_WAKUP_PREEMPTION", "did you mean \"WAKEUP_PREEMPTION\"?"},
      {"v6.18", "say x.y or x.y.z: 6.18"},
      {"6.18,6.12", "comes first"},
      {"6", "x.y"},
      {"6.18.999999999999999999999", "x.y"},
      {"6.18,,SIS_UTIL", "empty word"},
      {"SIS_UTIL,NO_SIS_UTIL", "twice"},
      {"base_slice_ns=1", "from 100000 to"},
      {"base_slice_ns=", "from 100000 to"},
      {"base_slice_ns=99999999999999999999", "from 100000 to"},
      {"preempt=rt", "none, voluntary"},
      {"6.12,preempt=lazy", "from 6.13"},
      {"machine=vm-3", "vm-2"},
      {"machine=", "unknown machine"},
      {"machine=vm-2,machine=vm-2", "twice"},
      {"machine=pack:1 core:0 pu:1", "at least one"},
  };
  for (const auto& [arm, hint] : kArms) {
    const Outcome o = call({"compare", "pipe:loops=5", "--b", arm});
    EXPECT_EQ(o.code, 3) << arm;
    EXPECT_HAS(o.err, hint);
    EXPECT_EQ(o.out, "");
  }
}

TEST(BadMachines, TopologiesAndFiles) {
  for (const std::string spec :
       {"pack:0", "pack:1 core:1", "pu:0", "pack:99999999999 pu:1", "pack:9000 pu:9000",
        "pack:1 [numa", "pack:1 foo:1 pu:1", "no.toml"}) {
    const Outcome o = call({"run", "pipe:loops=5", "--machine", spec});
    EXPECT_EQ(o.code, 3) << spec << o.out;
    EXPECT_TRUE(o.err.starts_with("runqlab: ")) << o.err;
  }
  const Folder folder;
  const std::string good = "[machine]\ntopology = \"pack:1 l3:1 core:2 pu:1\"\n";
  EXPECT_EQ(call({"run", "pipe:loops=5", "--machine", folder.write("m.toml", good)}).code, 0);
  const std::vector<std::pair<std::string, std::string>> kFiles = {
      {"", "m.toml:1:1"},
      {"[machine", "m.toml:1:"},
      {"a = [}", "m.toml:1:"},
      {"[machine]\ntopology = 7\n", "m.toml:2:12"},
      {"[machine]\ntopology = \"pack:1 pu:0\"\n", "m.toml:2:"},
      {good + "hz = 77\n", "m.toml:3:6"},
      {good + "hz = 99999999999999999999\n", "m.toml:3:"},
      {good + "hzz = 250\n", "did you mean \"hz\"?"},
      {good + "[costs]\nsyscall_ns = -1\n", "m.toml:4:14"},
      {good + "[costs]\nsyscall_ns = { ns = 1, range = [5] }\n", "m.toml:4:"},
      {good + "[guest]\nlate_exit_ns = [[1, 2]]\n", "m.toml:4:"},
      {std::string("\xff\xfe\0\0", 4), "m.toml"},
      {std::string(2 << 20, '#'), "longer than 1 MiB"},
      {std::string(100'000, '['), "m.toml"},
  };
  for (const auto& [text, where] : kFiles) {
    const Outcome o = call({"run", "pipe:loops=5", "--machine", folder.write("m.toml", text)});
    EXPECT_EQ(o.code, 3) << text.substr(0, 80);
    EXPECT_HAS(o.err, where);
  }
}

TEST(BadWorkloads, NamesAndParameters) {
  for (const std::string spec : {"", "pip", "pipe:", "pipe:loops", "pipe:loops=", "pipe:loops=-1",
                                 "pipe:loops=99999999999999999999", "pipe:loops=1,loops=2",
                                 "hogs:nice=77", "hogs:cpu=2", "hogs:duration=-1s"}) {
    const Outcome o = call({"run", spec});
    if (spec == "pipe:") continue;  // nothing is changed
    EXPECT_EQ(o.code, 3) << spec << o.out;
    EXPECT_TRUE(o.err.starts_with("runqlab: ")) << o.err;
  }
}

TEST(BadRunFiles, GarbageIsRefused) {
  const Folder folder;
  for (const std::string& text : {std::string(), std::string("garbage"), std::string("{}\n"),
                                  std::string(1 << 20, '\0'), std::string("\xff\xff\n\n")}) {
    const Outcome o =
        call({"explain", folder.write("x.run", text), "--task", "a", "--wakeup", "0"});
    EXPECT_EQ(o.code, 3);
    EXPECT_HAS(o.err, "x.run");
  }
}

TEST(BadCommandLines, AreUsageErrors) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{},
                                             {"relpay", "x"},
                                             {"replay"},
                                             {"run", "pipe", "--no-such-option"},
                                             {"run", "pipe", "-j", "2"},
                                             {"run", "pipe", "--seed", "-1"},
                                             {"run", "pipe", "--seed", "99999999999999999999"},
                                             {"compare", "pipe"},
                                             {"compare", "pipe", "--b", "6.12", "--runs", "0"},
                                             {"compare", "pipe", "--b", "6.12", "-j", "-1"},
                                             {"replay", "x", "--by", "cpu"},
                                             {"replay", "x", "--cost-correction", "300"},
                                             {"explain", "x", "--task", "a", "--wakeup", "-1"},
                                             {"list", "colours"}}) {
    const Outcome o = call(args);
    EXPECT_EQ(o.code, 2) << (args.empty() ? "" : args[0]) << o.out;
    EXPECT_NE(o.err, "");
  }
  EXPECT_HAS(call({"relpay", "x"}).err, "did you mean \"replay\"?");
  EXPECT_EQ(call({"--version"}).code, 0);
  EXPECT_EQ(call({"replay", "--help"}).code, 0);
}

}  // namespace
}  // namespace runqlab::cli
