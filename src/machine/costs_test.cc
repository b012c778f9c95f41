#include "machine/costs.h"

#include <gtest/gtest.h>

#include <set>

namespace runqlab::machine {
namespace {

using namespace literals;

TEST(Costs, TheTableAndTheStructAgree) {
  const Costs costs;
  std::set<std::string_view> names;
  for (const CostInfo& c : cost_table()) {
    EXPECT_EQ((costs.*c.field).ns(), c.default_ns) << c.name;
    EXPECT_TRUE(names.insert(c.name).second) << c.name << " occurs twice";
    EXPECT_TRUE(c.name.ends_with("_ns")) << c.name << ": the unit belongs to the name";
    EXPECT_FALSE(c.what.empty()) << c.name;
  }
  EXPECT_EQ(names.size() * sizeof(Duration), sizeof(Costs));
}

TEST(Costs, FindByName) {
  const CostInfo* c = find_cost("context_switch_ns");
  ASSERT_NE(c, nullptr);
  Costs costs;
  costs.*c->field = 42_ns;
  EXPECT_EQ(costs.context_switch_ns, 42_ns);
  EXPECT_EQ(find_cost("context_switch"), nullptr);
  EXPECT_EQ(find_cost(""), nullptr);
}

TEST(Costs, HintsNameTheNearestCosts) {
  EXPECT_EQ(cost_hint("context_swich_ns"), "did you mean \"context_switch_ns\"?");
  EXPECT_EQ(cost_hint("idle_exit"), "did you mean \"idle_exit_ns\"?");
}

}  // namespace
}  // namespace runqlab::machine
