#include "base/numbers.h"

#include <gtest/gtest.h>

#include <vector>

namespace runqlab {
namespace {

using namespace literals;

TEST(Numbers, SecondsAreReadByDigits) {
  EXPECT_EQ(parse_seconds("12.000065"), 12'000'065'000);
  EXPECT_EQ(parse_seconds("3354.898341927"), 3'354'898'341'927);
  EXPECT_EQ(parse_seconds("7"), 7'000'000'000);
  EXPECT_EQ(parse_seconds("0.000000001000"), 1);
  EXPECT_FALSE(parse_seconds("0.0000000001"));
  EXPECT_FALSE(parse_seconds("1."));
  EXPECT_FALSE(parse_seconds(".5"));
  EXPECT_FALSE(parse_seconds("-1"));
  EXPECT_FALSE(parse_seconds("9223372036.9"));
  EXPECT_FALSE(parse_seconds(""));
}

TEST(Numbers, DurationsTakeUnits) {
  EXPECT_EQ(parse_duration("150us"), 150_us);
  EXPECT_EQ(parse_duration("2.5ms"), 2500_us);
  EXPECT_EQ(parse_duration("10 s"), 10_s);
  EXPECT_EQ(parse_duration("42"), 42_ns);
  EXPECT_FALSE(parse_duration("2.5"));
  EXPECT_FALSE(parse_duration("5 parsecs"));
}

TEST(Numbers, IntegersRejectOverflowAndText) {
  EXPECT_EQ(parse_u64("18446744073709551615"), UINT64_MAX);
  EXPECT_FALSE(parse_u64("18446744073709551616"));
  EXPECT_FALSE(parse_u64("12a"));
  EXPECT_EQ(parse_i64("-1"), -1);
  EXPECT_FALSE(parse_i64("--1"));
}

TEST(Numbers, CpuLists) {
  std::vector<uint32_t> cpus;
  const auto add = [&](uint32_t a, uint32_t b) {
    for (uint32_t c = a; c <= b; ++c) cpus.push_back(c);
  };
  EXPECT_TRUE(parse_cpu_list("0-2,8", add));
  EXPECT_EQ(cpus, (std::vector<uint32_t>{0, 1, 2, 8}));
  EXPECT_FALSE(parse_cpu_list("3-1", add));
  EXPECT_FALSE(parse_cpu_list("1,", add));
  EXPECT_FALSE(parse_cpu_list("x", add));
  EXPECT_FALSE(parse_cpu_list("99999999", add));
}

}  // namespace
}  // namespace runqlab
