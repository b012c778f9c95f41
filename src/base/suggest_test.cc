#include "base/suggest.h"

#include <gtest/gtest.h>

namespace runqlab {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kKnown[] = {"context_switch_ns", "idle_enter_ns", "idle_exit_ns",
                                       "wakelist_ns", "wakeup_ns"};

TEST(Suggest, OneSlipOfTheKeyboardIsFound) {
  EXPECT_EQ(nearest_names("context_swich_ns", kKnown), Names{"context_switch_ns"});  // missing
  EXPECT_EQ(nearest_names("wakepu_ns", kKnown), Names{"wakeup_ns"});                 // swapped
  EXPECT_EQ(nearest_names("WAKELIST-NS", kKnown), (Names{"wakelist_ns"}));  // case, one replaced
}

TEST(Suggest, NearestFirstThenTheAlphabet) {
  EXPECT_EQ(nearest_names("idle_exi_ns", kKnown), Names{"idle_exit_ns"});
  EXPECT_EQ(nearest_names("idle", kKnown), (Names{"idle_enter_ns", "idle_exit_ns"}));
  constexpr std::string_view kTies[] = {"bat", "cat", "hat", "mat"};
  EXPECT_EQ(nearest_names("rat", kTies), (Names{"bat", "cat", "hat"}));
  EXPECT_EQ(nearest_names("rat", kTies, 1), Names{"bat"});
}

TEST(Suggest, NothingNearGivesNothing) {
  EXPECT_EQ(nearest_names("colour", kKnown), Names{});
  EXPECT_EQ(nearest_names("", kKnown), Names{});
  constexpr std::string_view kShort[] = {"hz"};
  EXPECT_EQ(nearest_names("ab", kShort), Names{});
}

TEST(Suggest, Hints) {
  constexpr std::string_view kUnits[] = {"polls", "interrupt"};
  EXPECT_EQ(did_you_mean("pols", kUnits), "did you mean \"polls\"?");
  EXPECT_EQ(did_you_mean("idle", kKnown), "did you mean \"idle_enter_ns\" or \"idle_exit_ns\"?");
  EXPECT_EQ(did_you_mean("sometimes", kUnits), "known: polls, interrupt");
}

TEST(Suggest, TheCommandThatListsThem) {
  constexpr std::string_view kUnits[] = {"polls", "interrupt"};
  EXPECT_EQ(did_you_mean("pols", kUnits, "list x"), "did you mean \"polls\"?");
  EXPECT_EQ(did_you_mean("sometimes", kUnits, "list x"),
            "known: polls, interrupt; `list x` prints all");
  const std::vector<std::string_view> many(30, "polls");
  EXPECT_EQ(did_you_mean("sometimes", many, "list x"), "`list x` prints all");
  const std::string some = did_you_mean("sometimes", many);
  EXPECT_TRUE(some.ends_with(", polls, …") && some.size() < 200) << some;
}

}  // namespace
}  // namespace runqlab
