#include "sched/state/load_weight.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "trace/import/vectors.h"

namespace runqlab::sched {
namespace {

const std::string kVectors = std::string(RUNQLAB_TEST_DATA) + "/vectors/";

// A weight without its inverse, as queues and groups hold it.
LoadWeight computed(uint64_t stored) { return {.stored = stored}; }

TEST(LoadWeight, NiceTableAndVirtualTime) {
  for (const VectorRow& row : VectorFile(kVectors + "weights.csv")) {
    SCOPED_TRACE(row.to_string());
    const LoadWeight w = row.text("nice") == "idle"
                             ? idle_policy_weight()
                             : nice_weight(static_cast<int>(row.number("nice")));
    EXPECT_EQ(w.stored, row.natural("weight_scaled_up"));
    EXPECT_EQ(scaled_down(w.stored), row.natural("weight"));
    EXPECT_EQ(w.inverse, row.natural("inv_weight_table"));
    EXPECT_EQ(inverse_of(w.stored), row.natural("inv_weight_computed"));
    EXPECT_EQ(calc_delta_fair(1'000'000, w), row.number("vruntime_delta_1ms_table_inv"));
    EXPECT_EQ(calc_delta_fair(1'000'000, computed(w.stored)),
              row.number("vruntime_delta_1ms_computed_inv"));
    EXPECT_EQ(calc_delta_fair(4'000'000, w), row.number("vruntime_delta_4ms_table_inv"));
  }
}

// "scaled:N" is a stored weight, else the cell is unscaled.
uint64_t stored_weight(const std::string& cell) {
  constexpr std::string_view kStored = "scaled:";
  return cell.starts_with(kStored) ? std::stoull(cell.substr(kStored.size()))
                                   : std::stoull(cell) << kWeightShift;
}

TEST(LoadWeight, CalcDelta) {
  const VectorFile vectors(kVectors + "calc_delta.csv");
  EXPECT_EQ(vectors.size(), 214U);
  for (const VectorRow& row : vectors) {
    SCOPED_TRACE(row.to_string());
    const LoadWeight queue = computed(stored_weight(row.text("queue_weight")));
    EXPECT_EQ(inverse_of(queue.stored), row.natural("inv_of_queue_weight"));
    EXPECT_EQ(calc_delta(row.natural("delta_ns"), stored_weight(row.text("weight")), queue),
              row.natural("result_ns"));
  }
}

TEST(LoadWeight, ANonZeroWeightIsAtLeastTwo) {
  EXPECT_EQ(scaled_down(0), 0U);
  EXPECT_EQ(scaled_down(1), 2U);
  EXPECT_EQ(scaled_down(2047), 2U);
  EXPECT_EQ(scaled_down(3072), 3U);
}

TEST(LoadWeight, InverseAtItsEnds) {
  EXPECT_EQ(inverse_of(0), 0xffffffffU);
  EXPECT_EQ(inverse_of(1), 0x7fffffffU);
  EXPECT_EQ(inverse_of(uint64_t{0xffffffff} << kWeightShift), 1U);
  EXPECT_EQ(inverse_of(uint64_t{0x1ffffffff} << kWeightShift), 1U);
}

TEST(LoadWeight, VirtualTimeOfNiceZeroIsExact) {
  for (const int64_t d : {int64_t{1}, int64_t{4'000'001}, int64_t{3'600'000'000'000}}) {
    EXPECT_EQ(calc_delta_fair(d, nice_weight(0)), d);
  }
}

}  // namespace
}  // namespace runqlab::sched
