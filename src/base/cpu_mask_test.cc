#include "base/cpu_mask.h"

#include <gtest/gtest.h>

namespace runqlab {
namespace {

TEST(CpuMask, PrintsKernelLists) {
  CpuMask m(130);
  EXPECT_EQ(m.to_list(), "");
  for (const size_t c : {0, 1, 2, 63, 64, 129}) m.set(CpuId::of(c));
  EXPECT_EQ(m.to_list(), "0-2,63-64,129");
  EXPECT_EQ(m.count(), 6U);
}

TEST(CpuMask, IteratesInOrder) {
  CpuMask m(200);
  m.set(CpuId(199));
  m.set(CpuId(3));
  m.set(CpuId(70));
  std::string seen;
  for (const CpuId c : m) seen += std::to_string(c.value()) + " ";
  EXPECT_EQ(seen, "3 70 199 ");
  EXPECT_EQ(m.next(4), CpuId(70));
  EXPECT_FALSE(m.next(200).valid());
}

TEST(CpuMask, SetOperations) {
  CpuMask a = CpuMask::all(8);
  CpuMask b(8);
  b.set(CpuId(5));
  EXPECT_TRUE(b.subset_of(a));
  EXPECT_TRUE(a.intersects(b));
  a &= b;
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace runqlab
