#include "analysis/pick_scenario.h"

#include <gtest/gtest.h>

namespace runqlab::analysis {
namespace {

const std::string kVectors = std::string(RUNQLAB_TEST_DATA) + "/vectors/";

// Every decision of every scenario and kernel in a file of golden vectors.
void expect_all(const std::string& csv) {
  const auto scenarios = load_pick_scenarios(kVectors + "pick_scenarios.json");
  ASSERT_TRUE(scenarios.ok()) << scenarios.error().to_string();
  const auto expected = load_pick_expectations(kVectors + csv);
  ASSERT_TRUE(expected.ok()) << expected.error().to_string();
  size_t compared = 0;
  for (const PickScenario& s : *scenarios) {
    for (const std::string& version : s.versions) {
      const auto kernel = sched::kernel_of(version).value();
      const auto want = expected->find(
          {s.id, s.hz, static_cast<int64_t>(s.online_cpus), kernel.features.eevdf ? version : ""});
      if (want == expected->end()) continue;
      EXPECT_EQ(pick_decisions(s, kernel), want->second) << version << ' ' << s.id << ' ' << s.hz;
      ++compared;
    }
  }
  EXPECT_EQ(compared, expected->size());
}

TEST(PickVectors, Eevdf) { expect_all("eevdf_pick.csv.xz"); }
TEST(PickVectors, Cfs) { expect_all("cfs_pick.csv.xz"); }

std::string error_of(const std::string& task) {
  const auto s = parse_pick_scenarios(
      R"({"schema": "pick-scenarios/1", "scenarios": [{"id": "x", "until": 1000, "tasks": [)" +
          task + R"(], "versions": ["6.18"]}]})",
      "f.json");
  return s ? "" : s.error().to_string();
}

TEST(PickScenarios, AreChecked) {
  EXPECT_EQ(error_of(R"({"name": "A"})"), "");
  EXPECT_EQ(error_of(R"({"nice": 1})"), "f.json: scenario 1: a task needs a name");
  EXPECT_EQ(error_of(R"({"name": "A", "nice": 20})"), "f.json: scenario 1: nice takes -20..19");
  EXPECT_EQ(error_of(R"({"name": "A", "pattern": [[0, 0]]})"),
            "f.json: scenario 1: a step of a pattern is [run, sleep], both from 1 ns to 100 s");
  EXPECT_EQ(error_of(R"({"name": "A", "weight": 3})"),
            "f.json: scenario 1: unknown key of a task: weight");
  EXPECT_EQ(error_of(""), "f.json: scenario 1: tasks: 1 to 1000 of them");
  EXPECT_EQ(error_of(R"({"name": "A", "v0": 99999999999999999999})"),
            "f.json: scenario 1: v0 is an integer");
  EXPECT_FALSE(parse_pick_scenarios("[1", "f.json").ok());
  EXPECT_FALSE(parse_pick_scenarios("[]", "f.json").ok());
}

}  // namespace
}  // namespace runqlab::analysis
