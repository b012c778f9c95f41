#include "engine/event_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <optional>
#include <tuple>

namespace runqlab {
namespace {

// The stupid twin: a vector that is sorted at every pop.
class SortedVectorQueue {
 public:
  void arm(SlotId slot, SimTime t, Phase phase) {
    disarm(slot);
    v_.emplace_back(t, phase, slot);
  }
  void disarm(SlotId slot) {
    std::erase_if(v_, [&](const auto& e) { return std::get<2>(e) == slot; });
  }
  bool empty() const { return v_.empty(); }
  size_t size() const { return v_.size(); }
  std::pair<SimTime, SlotId> pop() {
    std::sort(v_.begin(), v_.end());
    const auto [t, phase, slot] = v_.front();
    v_.erase(v_.begin());
    return {t, slot};
  }

 private:
  std::vector<std::tuple<SimTime, Phase, SlotId>> v_;
};

TEST(EventQueue, AgreesWithASortedVector) {
  rc::check([] {
    const auto slots = *rc::gen::inRange<uint32_t>(1, 40);
    EventQueue q(slots);
    SortedVectorQueue twin;
    const auto steps = *rc::gen::inRange(0, 400);
    SimTime now;
    for (int i = 0; i < steps; ++i) {
      const SlotId slot(*rc::gen::inRange<uint32_t>(0, slots));
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
        case 1: {
          // Few distinct times, so that ties are common.
          const SimTime t = now + Duration::nanos(*rc::gen::inRange(0, 6));
          const auto phase = static_cast<Phase>(*rc::gen::inRange(0, 5));
          q.arm(slot, t, phase);
          twin.arm(slot, t, phase);
          break;
        }
        case 2:
          q.disarm(slot);
          twin.disarm(slot);
          break;
        default:
          if (!twin.empty()) {
            const auto [t, s] = twin.pop();
            const EventQueue::Event e = q.pop();
            RC_ASSERT(e.time == t);
            RC_ASSERT(e.slot == s);
            now = t;
          }
      }
      RC_ASSERT(q.size() == twin.size());
      RC_ASSERT(q.empty() == twin.empty());
    }
  });
}

TEST(EventQueue, EqualTimesGoByPhaseThenSlot) {
  EventQueue q(4);
  const SimTime t = SimTime::from_ns(10);
  q.arm(SlotId(0), t, Phase::tick);
  q.arm(SlotId(2), t, Phase::timer);
  q.arm(SlotId(1), t, Phase::timer);
  q.arm(SlotId(3), t, Phase::work);
  EXPECT_EQ(q.pop().slot, SlotId(3));
  EXPECT_EQ(q.pop().slot, SlotId(1));
  EXPECT_EQ(q.pop().slot, SlotId(2));
  EXPECT_EQ(q.pop().slot, SlotId(0));
  EXPECT_TRUE(q.empty());
}

TEST(EventQueue, ArmingAPendingSlotMovesIt) {
  EventQueue q(2);
  q.arm(SlotId(0), SimTime::from_ns(5), Phase::work);
  q.arm(SlotId(1), SimTime::from_ns(7), Phase::work);
  q.arm(SlotId(0), SimTime::from_ns(9), Phase::work);
  EXPECT_EQ(q.size(), 2U);
  EXPECT_EQ(q.time_of(SlotId(0)), SimTime::from_ns(9));
  EXPECT_EQ(q.pop().slot, SlotId(1));
  EXPECT_EQ(q.pop().slot, SlotId(0));
  EXPECT_EQ(q.time_of(SlotId(0)), SimTime::max());
}

TEST(EventQueue, TimesBeyondTheKeyAreClamped) {
  EventQueue q(1);
  q.arm(SlotId(0), SimTime::max(), Phase::timer);
  EXPECT_EQ(q.pop().time, EventQueue::kMaxTime);
}

}  // namespace
}  // namespace runqlab
