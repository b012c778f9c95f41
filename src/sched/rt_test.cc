#include "sched/rt.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/id_vector.h"

namespace runqlab::sched {
namespace {

using namespace literals;

class RtTest : public testing::Test {
 protected:
  RtTest() : tasks(8) {
    for (size_t i = 0; i < tasks.size(); ++i) {
      Task& p = task(i);
      p.id = TaskId::of(i);
      p.sched_class = SchedClass::rt;
      p.policy = Policy::fifo;
    }
  }
  Task& task(size_t i) { return tasks[TaskId::of(i)]; }
  Task& queue(size_t i, int priority, bool at_head = false) {
    task(i).rt_priority = static_cast<uint8_t>(priority);
    rt.enqueue(rq, task(i), at_head);
    return task(i);
  }
  // In the order in which they would run if each blocked at once.
  std::vector<uint32_t> order() {
    std::vector<uint32_t> v;
    while (rq.rt.nr_running != 0) {
      const TaskId next = rt.pick(rq);
      v.push_back(next.value());
      rt.dequeue(rq, tasks[next]);
    }
    return v;
  }
  using Order = std::vector<uint32_t>;

  RtClass rt{100_ms, 4_ms};
  Rq rq;
  IdVector<TaskId, Task> tasks;
};

TEST_F(RtTest, TheMostUrgentFirstThenInOrderOfArrival) {
  queue(0, 1);
  queue(1, 99);
  queue(2, 50);
  queue(3, 50);
  queue(4, 36);  // the two words of the bitmap meet between 36 and 37
  queue(5, 37);
  EXPECT_EQ(rq.nr_running, 6U);
  EXPECT_EQ(order(), (Order{1, 2, 3, 5, 4, 0}));
  EXPECT_EQ(rq.nr_running, 0U);
  EXPECT_EQ(rt.pick(rq), TaskId::none());
}

TEST_F(RtTest, ADeadlineTaskIsAboveAll) {
  queue(0, 99);
  queue(1, 100);
  EXPECT_EQ(order(), (Order{1, 0}));
}

TEST_F(RtTest, AtTheHeadComesBeforeEquals) {
  queue(0, 10);
  queue(1, 10, true);
  EXPECT_EQ(order(), (Order{1, 0}));
}

TEST_F(RtTest, YieldGoesBehindEqualsOnly) {
  Task& p = queue(0, 10);
  queue(1, 10);
  queue(2, 9);
  RtClass::yield(rq, p);
  EXPECT_EQ(order(), (Order{1, 0, 2}));
}

TEST_F(RtTest, EqualsDoNotPreempt) {
  const Task& low = queue(0, 10);
  const Task& equal = queue(1, 10);
  const Task& high = queue(2, 11);
  EXPECT_FALSE(RtClass::preempts(low, equal));
  EXPECT_TRUE(RtClass::preempts(low, high));
  EXPECT_FALSE(RtClass::preempts(high, low));
}

TEST_F(RtTest, ARoundRobinSliceIsTwentyFiveTicks) {
  Task& p = queue(0, 10);
  p.policy = Policy::rr;
  queue(1, 10);
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i < 25; ++i) EXPECT_FALSE(rt.tick(rq, p));
    EXPECT_TRUE(rt.tick(rq, p));
  }
  EXPECT_EQ(rt.pick(rq), TaskId(1));
}

// Being preempted or asleep in between does not give it a new slice.
TEST_F(RtTest, TheRestOfASliceIsKept) {
  Task& p = queue(0, 10);
  p.policy = Policy::rr;
  queue(1, 10);
  for (int i = 0; i < 20; ++i) rt.tick(rq, p);
  rt.dequeue(rq, p);
  rt.enqueue(rq, p, false);
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(rt.tick(rq, p));
  EXPECT_TRUE(rt.tick(rq, p));
}

TEST_F(RtTest, AloneOrFifoNothingEnds) {
  Task& alone = queue(0, 10);
  alone.policy = Policy::rr;
  queue(1, 9);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(rt.tick(rq, alone));
  Task& fifo = queue(2, 11);
  queue(3, 11);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(rt.tick(rq, fifo));
}

TEST_F(RtTest, SlicesAreRoundedUpToTicks) {
  RtClass odd{5_ms, 4_ms};
  Task& p = queue(0, 10);
  p.policy = Policy::rr;
  queue(1, 10);
  EXPECT_FALSE(odd.tick(rq, p));
  EXPECT_TRUE(odd.tick(rq, p));
}

}  // namespace
}  // namespace runqlab::sched
