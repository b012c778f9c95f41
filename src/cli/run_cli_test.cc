// The commands as a user calls them.
#include "cli/run_cli.h"

#include <nlohmann/json.hpp>

#include "cli/cli_harness.h"

namespace runqlab::cli {
namespace {

using Json = nlohmann::json;

const std::string kRecordings = RUNQLAB_TEST_DATA "/recordings/host_6.18/";

// The lines from "Try next" to the next empty one.
std::string next_of(const std::string& out) {
  const size_t at = out.find("Try next:");
  return at == out.npos ? "" : out.substr(at, out.find("\n\n", at) - at);
}

TEST(Cli, ExplainsWhatReplayWrote) {
  const Folder folder;
  const std::string run = folder.path("r.run");
  const Outcome replay =
      call({"replay", kRecordings + "mix_hogs_sleepers.trace.txt.xz", "--machine", "vm-2",
            "--kernel", "6.18.44", "--b", "NO_WAKEUP_PREEMPTION", "-o", run});
  ASSERT_EQ(replay.code, 0) << replay.err;
  const std::string next = next_of(replay.out);
  EXPECT_HAS(next, "runqlab explain " + run + " --task ");
  // What has been run is not proposed.
  EXPECT_FALSE(has(next, "NO_WAKEUP_PREEMPTION") || has(next, "preempt=")) << next;
  EXPECT_HAS(next, "--machine vm-2 --kernel 6.18.44 --b ");

  const Outcome why = call({"explain", run, "--task", "slp0-12216", "--wakeup", "37"});
  EXPECT_EQ(why.code, 0) << why.err;
  EXPECT_HAS(why.out, "6.18.44,NO_WAKEUP_PREEMPTION:\n");
  const Outcome json = call({"explain", run, "--task", "12216", "--wakeup", "37", "--json"});
  EXPECT_EQ(Json::parse(json.out).size(), 2U);

  const Outcome late = call({"explain", run, "--task", "slp0-12216", "--wakeup", "99999"});
  EXPECT_EQ(late.code, 3);
  EXPECT_EQ(late.out, "");
  EXPECT_HAS(late.err, "it has 0 to 327 in 6.18.44");
  EXPECT_EQ(call({"explain", run, "--task", "nobody", "--wakeup", "0"}).code, 3);
}

TEST(Cli, ExplainRefusesOtherHashes) {
  const Folder folder;
  const std::string run = folder.path("r.run");
  ASSERT_EQ(call({"run", "pipe:loops=20", "-o", run}).code, 0);
  std::string text = read_all(run);
  const size_t at = text.find("state_hash\":\"") + 13;
  text[at] = text[at] == '0' ? '1' : '0';
  const Outcome o = call({"explain", folder.write("x.run", text), "--task", "1", "--wakeup", "0"});
  EXPECT_EQ(o.code, 3);
  EXPECT_HAS(o.err, "make it again");
}

TEST(Cli, CompareWritesARunFileOfItsFirstSeed) {
  const Folder folder;
  const std::string run = folder.path("c.run");
  const Outcome o =
      call({"compare", "pipe:loops=20", "--b", "6.12", "--runs", "2", "-j", "2", "-o", run});
  ASSERT_EQ(o.code, 0) << o.err;
  const Outcome why = call({"explain", run, "--task", "2", "--wakeup", "3"});
  EXPECT_EQ(why.code, 0) << why.err;
  EXPECT_HAS(why.out, "6.12:\n");
}

TEST(Cli, AnArmMayRunOnAnotherMachine) {
  const Folder folder;
  const std::string run = folder.path("m.run");
  const std::vector<std::string> args = {
      "replay",    kRecordings + "mix_hogs_sleepers.trace.txt.xz",
      "--machine", "vm-2",
      "--kernel",  "6.18.44",
      "--b",       "machine=epyc-7763-2s",
      "--b",       "machine=pack:1 core:1 pu:1,NO_SIS_UTIL",
      "-o",        run};
  const Outcome o = call(args);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_HAS(o.out, "6.18.44, preempt none, on epyc-7763-2s (256 CPUs)");
  EXPECT_HAS(o.out,
             "C on pack:1 core:1 pu:1: affinities keep their CPU numbers, 2 of them have no");
  const Outcome why = call({"explain", run, "--task", "slp0-12216", "--wakeup", "37"});
  EXPECT_EQ(why.code, 0) << why.err;
  EXPECT_HAS(why.out, "6.18.44 on epyc-7763-2s:\n");

  std::vector<std::string> with_json = args;
  with_json.emplace_back("--json");
  const Json j = Json::parse(call(with_json).out);
  EXPECT_EQ(j["arms"]["A"]["machine"], "vm-2");
  EXPECT_EQ(j["arms"]["B"]["machine"], "epyc-7763-2s");
  // The recording is re-run on its own machine as ever.
  const Json alone = Json::parse(
      call({"replay", args[1], "--machine", "vm-2", "--kernel", "6.18.44", "--json"}).out);
  EXPECT_EQ(j["self_check"], alone["self_check"]);

  EXPECT_EQ(call({"compare", "pipe:loops=20", "--b", "machine=pack:1 core:4 pu:2"}).code, 0);
  const Outcome pinned = call({"compare", "hogs:cpu=1", "--b", "machine=pack:1 core:1 pu:1"});
  EXPECT_EQ(pinned.code, 3);
  EXPECT_EQ(call({"run", "pipe", "--kernel", "machine=vm-2"}).code, 3);
}

TEST(Cli, ProposalsAreArmsThatHaveNotRun) {
  std::vector<std::string> args = {"replay",    kRecordings + "rtapp_example2.trace.txt.xz",
                                   "--machine", "vm-2",
                                   "--kernel",  "6.18.44"};
  for (int round = 0; round < 4; ++round) {
    const Outcome o = call(args);
    ASSERT_EQ(o.code, 0) << o.err;
    const std::string next = next_of(o.out);
    const size_t at = next.find(" --b ");
    ASSERT_NE(at, next.npos) << next;
    const std::string arm = next.substr(at + 5, next.find_first_of(" \n", at + 5) - at - 5);
    EXPECT_EQ(std::find(args.begin(), args.end(), arm), args.end()) << next;
    args.insert(args.end(), {"--b", arm});
  }
}

TEST(Cli, ListsWhatIsAccepted) {
  const std::string kernels = call({"list", "kernels"}).out;
  for (const std::string k : {"6.12", "6.12.95", "6.13", "6.18.44", "6.19", "7.0", "7.1"}) {
    EXPECT_HAS(kernels, "\n" + k + " ");
    EXPECT_FALSE(has(call({"run", "pipe:loops=5", "--kernel", k}).out, "note:")) << k;
  }
  EXPECT_HAS(call({"run", "pipe:loops=5", "--kernel", "7.2"}).out, "note:");
  EXPECT_HAS(call({"list", "features"}).out, "700000 × (1 + log2 CPUs, at most 8)");
  EXPECT_HAS(call({"list", "features", "--kernel", "6.12"}).out, "750000 × (1");
  for (const std::string what : {"machines", "workloads", "costs"}) {
    EXPECT_EQ(call({"list", what}).code, 0);
  }
}

TEST(Cli, ThresholdsGiveExitCodeOne) {
  const std::vector<std::string> args = {"compare", "hogs:nice=0/0/0,duration=200ms", "--b",
                                         "base_slice_ns=10ms", "--fail-if"};
  std::vector<std::string> holds = args, holds_not = args;
  holds.emplace_back("switches<-10%");
  holds_not.emplace_back("switches>+10%");
  EXPECT_EQ(call(holds).code, 1);
  EXPECT_EQ(call(holds_not).code, 0);
}

}  // namespace
}  // namespace runqlab::cli
