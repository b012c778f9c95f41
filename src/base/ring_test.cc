#include "base/ring.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>

namespace runqlab {
namespace {

RC_GTEST_PROP(Ring, IsADeque, (const std::vector<int>& steps)) {
  Ring<int> ring;
  std::deque<int> deque;
  for (const int v : steps) {
    if (v % 3 == 0 && !deque.empty()) {
      RC_ASSERT(ring.front() == deque.front());
      ring.pop_front();
      deque.pop_front();
    } else {
      ring.push_back(v);
      deque.push_back(v);
      RC_ASSERT(ring.back() == v);
    }
    RC_ASSERT(ring.size() == deque.size());
    RC_ASSERT(ring.empty() == deque.empty());
  }
}

}  // namespace
}  // namespace runqlab
