#include "sched/imbalance.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "trace/import/vectors.h"

namespace runqlab::sched {
namespace {

using namespace literals;

const std::string kVectors = std::string(RUNQLAB_TEST_DATA) + "/vectors/";

uint32_t u32(const VectorRow& row, std::string_view column) {
  return static_cast<uint32_t>(row.natural(column));
}

TEST(Imbalance, GroupTypes) {
  const std::map<std::string, GroupType> types = {{"has_spare", GroupType::has_spare},
                                                  {"fully_busy", GroupType::fully_busy},
                                                  {"overloaded", GroupType::overloaded}};
  for (const VectorRow& row : VectorFile(kVectors + "group_classify.csv")) {
    SCOPED_TRACE(row.to_string());
    const GroupStats g{.weight = u32(row, "group_weight"),
                       .capacity = row.natural("group_capacity"),
                       .util = row.natural("group_util"),
                       .runnable = row.natural("group_runnable"),
                       .nr_running = u32(row, "sum_nr_running")};
    const uint32_t pct = u32(row, "imbalance_pct");
    const GroupType type = types.at(row.text("type(no misfit/asym/imbalanced flags)"));
    EXPECT_EQ(classify(g, pct, false), type);
    // The flag comes before capacity, after overload.
    EXPECT_EQ(classify(g, pct, true), type == GroupType::overloaded ? type : GroupType::imbalanced);
  }
}

TEST(Imbalance, NumaTolerance) {
  for (const VectorRow& row : VectorFile(kVectors + "numa_imbalance.csv")) {
    EXPECT_EQ(adjust_numa_imbalance(row.number("imbalance"), row.number("dst_running"),
                                    u32(row, "imb_numa_nr")),
              row.number("adjusted"))
        << row.to_string();
  }
}

TEST(Imbalance, SiblingsByCores) {
  for (const VectorRow& row : VectorFile(kVectors + "sibling_imbalance_6.6.csv")) {
    SCOPED_TRACE(row.to_string());
    DomainStats d{.local = {.cores = u32(row, "cores_local"), .nr_running = u32(row, "local_nr")},
                  .busiest = {.cores = u32(row, "cores_busiest"),
                              .nr_running = u32(row, "busiest_nr"),
                              .h_nr = u32(row, "busiest_nr")},
                  .dst_idle = true};
    EXPECT_EQ(sibling_imbalance(d), row.number("imbalance"));
    d.dst_idle = false;
    EXPECT_EQ(sibling_imbalance(d), 0);
  }
}

// BUGS.md 14: one task more than half of what both have by cores is worth a move to an empty group.
TEST(Imbalance, AnEmptyBigCore) {
  const DomainStats d{
      .local = {.cores = 1}, .busiest = {.cores = 4, .nr_running = 2, .h_nr = 2}, .dst_idle = true};
  EXPECT_EQ(sibling_imbalance(d), 2);
}

// Made for 6.1; between groups of as many cores 6.6 and later agree.
TEST(Imbalance, AmountToMove) {
  const std::map<std::string, MigrationType> types = {{"migrate_task", MigrationType::task},
                                                      {"migrate_util", MigrationType::util},
                                                      {"migrate_load", MigrationType::load}};
  const auto group = [](const VectorRow& row, const std::string& who) {
    constexpr GroupType kTypes[] = {GroupType::has_spare, GroupType::fully_busy,
                                    GroupType::overloaded};
    GroupStats g{.weight = u32(row, who + "_weight"),
                 .cores = u32(row, who + "_weight"),
                 .capacity = row.natural(who + "_weight") * 1024,
                 .load = row.natural(who + "_load"),
                 .util = row.natural(who + "_util"),
                 .nr_running = u32(row, who + "_nr"),
                 .h_nr = u32(row, who + "_nr"),
                 .idle_cpus = u32(row, who + "_idle"),
                 .type = kTypes[row.natural(who + "_type")]};
    if (g.type == GroupType::overloaded) g.set_avg_load();
    return g;
  };
  for (const VectorRow& row : VectorFile(kVectors + "calculate_imbalance_6.1.csv")) {
    SCOPED_TRACE(row.to_string());
    DomainStats d{.local = group(row, "local"),
                  .busiest = group(row, "busy"),
                  .prefer_sibling = row.flag("prefer_sibling"),
                  .dst_idle = row.flag("dst_idle")};
    d.total_load = d.local.load + d.busiest.load;
    d.total_capacity = d.local.capacity + d.busiest.capacity;
    const Imbalance i =
        calculate_imbalance(d, {.share_llc = row.flag("SD_SHARE_LLC"), .numa = row.flag("SD_NUMA")},
                            u32(row, "imb_numa_nr"));
    EXPECT_EQ(i.amount, row.number("imbalance"));
    EXPECT_EQ(i.type, types.at(row.text("migration_type")));
  }
}

// Nothing is taken from a group that has what it needs.
TEST(Imbalance, BetweenFullyBusyGroupsNothingMoves) {
  DomainStats d{.local = {.weight = 4, .capacity = 4096, .load = 1024},
                .busiest = {.weight = 4, .capacity = 4096, .load = 9000},
                .dst_idle = true,
                .total_load = 10024,
                .total_capacity = 8192};
  d.local.type = d.busiest.type = GroupType::fully_busy;
  EXPECT_EQ(calculate_imbalance(d, {}, 0).amount, 0);
}

TEST(Imbalance, AnImbalancedGroupGivesOneTask) {
  DomainStats d{.local = {.type = GroupType::imbalanced},
                .busiest = {.type = GroupType::imbalanced}};
  EXPECT_EQ(calculate_imbalance(d, {}, 0).amount, 1);
}

TEST(Imbalance, BalanceInterval) {
  for (const VectorRow& row : VectorFile(kVectors + "balance_interval.csv")) {
    const SchedDomain d{.balance_interval_ms = u32(row, "min_interval_ms")};
    EXPECT_EQ(balance_jiffies(d, row.flag("cpu_busy"), row.number("HZ"), 72),
              row.number("first_interval_jiffies(72 CPUs online)"))
        << row.to_string();
  }
}

// A tenth of a second per CPU at most, a jiffy at least.
TEST(Imbalance, BalanceIntervalIsLimited) {
  const SchedDomain d{.balance_interval_ms = 512};
  EXPECT_EQ(balance_jiffies(d, true, 250, 4), 100);
  EXPECT_EQ(balance_jiffies(d, true, 250, 1), 25);
  EXPECT_EQ(balance_jiffies({.balance_interval_ms = 1}, false, 100, 2), 1);
}

TEST(Imbalance, SisUtil) {
  for (const VectorRow& row : VectorFile(kVectors + "sis_util.csv")) {
    EXPECT_EQ(
        nr_idle_scan(row.natural("sum_util"), u32(row, "llc_weight"), u32(row, "imbalance_pct")),
        row.number("nr_idle_scan"))
        << row.to_string();
  }
}

TEST(Imbalance, NewidleCostDecay) {
  Duration cost = 1_ms;
  for (const VectorRow& row : VectorFile(kVectors + "newidle_cost_decay.csv")) {
    EXPECT_EQ(cost.ns(), row.number("max_newidle_lb_cost"));
    cost = decayed_newidle_cost(cost);
  }
}

}  // namespace
}  // namespace runqlab::sched
