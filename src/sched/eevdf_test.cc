#include "sched/eevdf.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "sched/queue_lab.h"

namespace runqlab::sched {
namespace {

using namespace literals;

constexpr int64_t kMs = 1'000'000;

// --- V, eligibility ---------------------------------------------------------------------------

TEST(Eevdf, VIsTheWeightedMeanRoundedDown) {
  QueueLab lab;
  lab.queued(0, 10);
  lab.queued(3, 10);
  EXPECT_EQ(lab.v(), 1);
  lab.running(9, 20);
  EXPECT_EQ(lab.v(), 4);
  lab.queued(-1000, 10, 5);  // weight 335
  EXPECT_EQ(lab.v(), (1024 * 12 - 335 * 1000 - (3 * 1024 + 335 - 1)) / (3 * 1024 + 335));
}

TEST(Eevdf, NegativeVIsRoundedDownToo) {
  QueueLab lab;
  lab.queued(-3, 10);
  lab.queued(0, 10);
  EXPECT_EQ(lab.v(), -2);
}

TEST(Eevdf, WhoStandsExactlyAtVIsEligible) {
  QueueLab lab;
  const Task& low = lab.queued(0, 10);
  const Task& mid = lab.queued(1, 10);
  const Task& high = lab.queued(3, 10);
  EXPECT_EQ(lab.v(), 1);
  EXPECT_TRUE(eevdf::eligible(low.se, lab.v()));
  EXPECT_TRUE(eevdf::eligible(mid.se, lab.v()));
  EXPECT_FALSE(eevdf::eligible(high.se, lab.v()));
}

// The definitions, by a scan over everything queued.
struct Twin {
  const QueueLab& lab;

  [[nodiscard]] std::vector<const Entity*> all() const {
    std::vector<const Entity*> v;
    for (const Task& p : lab.tasks) {
      if (p.se.on_rq) v.push_back(&p.se);
    }
    return v;
  }
  static __int128 weight(const Entity& e) {
    return static_cast<__int128>(scaled_down(e.load.stored));
  }
  [[nodiscard]] bool eligible(const Entity& i) const {
    __int128 sum = 0;
    for (const Entity* j : all()) sum += weight(*j) * (j->vruntime - i.vruntime);
    return sum >= 0;
  }
  [[nodiscard]] int64_t v() const {
    __int128 sum = 0, load = 0;
    for (const Entity* j : all()) sum += weight(*j) * j->vruntime, load += weight(*j);
    return static_cast<int64_t>((sum - (sum < 0 ? load - 1 : 0)) / load);
  }
  // Without protection.
  [[nodiscard]] const Entity* pick() const {
    const Entity* best = nullptr;
    for (const Entity* e : all()) {
      if (!eligible(*e)) continue;
      const bool runs = e == lab.rq.cfs.curr;
      if (best == nullptr || e->deadline < best->deadline) {
        best = e;
      } else if (e->deadline == best->deadline) {
        // Who runs loses against its equals, else who was queued first wins.
        if (best == lab.rq.cfs.curr || (!runs && e->queue_seq < best->queue_seq)) best = e;
      }
    }
    return best;
  }
};

TEST(Eevdf, RandomQueuesAgreeWithTheDefinitions) {
  RandomStream random = Rng(7).stream("eevdf_test");
  for (const char* arm : {"6.12", "6.18"}) {
    for (int round = 0; round < 200; ++round) {
      QueueLab lab(arm);
      const Twin twin{lab};
      const int64_t span = round % 2 == 0 ? 20 : 4'000'000'000'000;
      for (int i = 0; i < 6; ++i) {
        const int64_t v = random.between(-span, span);
        const int nice = static_cast<int>(random.between(-20, 19));
        // Few deadlines: many are equal.
        lab.queued(v, v + random.between(1, 4), nice);
      }
      for (int step = 0; step < 12; ++step) {
        Task& p = lab.tasks[TaskId::of(random.below(6))];
        if (random.below(3) == 0) {
          lab.run(p, SimTime{});
        } else {
          lab.move(p, p.se.vruntime + random.between(-9, 9), p.se.deadline + random.between(0, 9));
        }
        ASSERT_EQ(lab.v(), twin.v());
        for (const Entity* e : twin.all()) {
          ASSERT_EQ(eevdf::eligible(*e, lab.v()), twin.eligible(*e));
        }
        ASSERT_EQ(eevdf::pick(lab.k, lab.rq.cfs, false), twin.pick());
      }
    }
  }
}

// --- Pick --------------------------------------------------------------------------------------

TEST(Eevdf, TheEarliestDeadlineAmongTheEligibleIsPicked) {
  QueueLab lab;
  lab.queued(100, 110);  // earlier deadline, but not eligible
  const Task& later = lab.queued(0, 300);
  const Task& earlier = lab.queued(10, 200);
  EXPECT_EQ(eevdf::pick(lab.k, lab.rq.cfs, true), &earlier.se);
  EXPECT_NE(eevdf::pick(lab.k, lab.rq.cfs, true), &later.se);
}

TEST(Eevdf, EqualDeadlinesKeepTheOrderOfInsertion) {
  QueueLab lab;
  Task& a = lab.queued(0, 200);
  const Task& b = lab.queued(0, 200);
  EXPECT_EQ(eevdf::pick(lab.k, lab.rq.cfs, true), &a.se);
  lab.run(a, SimTime{});
  lab.fair.put_prev(lab.rq, a, SimTime{});  // back at the end of its equals
  EXPECT_EQ(eevdf::pick(lab.k, lab.rq.cfs, true), &b.se);
}

TEST(Eevdf, TheRunningTaskNeedsAStrictlyEarlierDeadline) {
  QueueLab lab("6.18,NO_VPROT,NO_RUN_TO_PARITY");
  Task& curr = lab.running(0, 200);
  const Task& other = lab.queued(0, 200);
  EXPECT_EQ(eevdf::pick(lab.k, lab.rq.cfs, true), &other.se);
  lab.move(curr, 0, 199);
  EXPECT_EQ(eevdf::pick(lab.k, lab.rq.cfs, true), &curr.se);
}

TEST(Eevdf, OneEntityIsPickedWhateverItsLag) {
  QueueLab lab;
  const Task& only = lab.running(1000, 10);
  EXPECT_EQ(eevdf::pick(lab.k, lab.rq.cfs, true), &only.se);
  QueueLab waiting;
  const Task& waits = waiting.queued(1000, 10);
  EXPECT_EQ(eevdf::pick(waiting.k, waiting.rq.cfs, true), &waits.se);
  QueueLab empty;
  EXPECT_EQ(eevdf::pick(empty.k, empty.rq.cfs, true), nullptr);
}

TEST(Eevdf, AnIneligibleRunningTaskIsNeverProtected) {
  for (const char* arm : {"6.12", "6.18"}) {
    QueueLab lab(arm);
    Task& curr = lab.running(0, 300);
    const Task& other = lab.queued(10, 200);
    EXPECT_EQ(eevdf::pick(lab.k, lab.rq.cfs, true), &curr.se) << arm;
    EXPECT_EQ(eevdf::pick(lab.k, lab.rq.cfs, false), &curr.se) << arm;
    lab.move(curr, 11, 300);
    EXPECT_EQ(eevdf::pick(lab.k, lab.rq.cfs, true), &other.se) << arm;
  }
}

// --- Slice protection --------------------------------------------------------------------------

TEST(Eevdf, ProtectedWhileTheDeadlineIsUnchanged) {
  QueueLab lab("6.12");
  Task& curr = lab.running(0, 3 * kMs);
  const Task& other = lab.queued(kMs, 2 * kMs);
  lab.move(curr, kMs, 3 * kMs);
  EXPECT_TRUE(eevdf::is_protected(lab.k, curr.se));
  EXPECT_EQ(eevdf::pick(lab.k, lab.rq.cfs, true), &curr.se);
  EXPECT_EQ(eevdf::pick(lab.k, lab.rq.cfs, false), &other.se);
  lab.move(curr, kMs, 4 * kMs);  // its request was renewed
  EXPECT_FALSE(eevdf::is_protected(lab.k, curr.se));
  EXPECT_EQ(eevdf::pick(lab.k, lab.rq.cfs, true), &other.se);
}

TEST(Eevdf, WithoutRunToParityTheEarlierDeadlineWins) {
  QueueLab lab("6.12,NO_RUN_TO_PARITY");
  lab.running(0, 3 * kMs);
  const Task& other = lab.queued(0, 2 * kMs);
  EXPECT_EQ(eevdf::pick(lab.k, lab.rq.cfs, true), &other.se);
}

TEST(Eevdf, VprotIsTheDeadlineAmongEqualSlices) {
  QueueLab lab("6.18");
  lab.queued(0, 2 * kMs);
  const Task& curr = lab.running(0, 2'800'000);
  EXPECT_EQ(curr.se.vprot, 2'800'000);
}

TEST(Eevdf, VprotEndsWithTheShortestSliceQueued) {
  QueueLab lab("6.18");
  lab.set_slice(lab.queued(0, kMs), 1_ms);
  Task& curr = lab.running(500, 500 + 2'800'000);
  EXPECT_EQ(curr.se.vprot, 500 + kMs);
  EXPECT_TRUE(eevdf::is_protected(lab.k, curr.se));
  lab.move(curr, 500 + kMs, curr.se.deadline);
  EXPECT_FALSE(eevdf::is_protected(lab.k, curr.se));
}

TEST(Eevdf, VprotIsInVirtualTime) {
  QueueLab lab("6.18");
  lab.set_slice(lab.queued(0, kMs), 1_ms);
  const Task& curr = lab.running(0, 100 * kMs, 5);
  EXPECT_EQ(curr.se.vprot, calc_delta_fair(kMs, nice_weight(5)));
}

TEST(Eevdf, VprotWithoutRunToParityIsTheUnscaledBaseSlice) {
  QueueLab lab("6.18,NO_RUN_TO_PARITY");
  lab.queued(0, 2 * kMs);
  const Task& curr = lab.running(0, 2'800'000);
  EXPECT_EQ(curr.se.vprot, 700'000);
}

TEST(Eevdf, ProtectionCanBeCancelledAndShrunk) {
  for (const char* arm : {"6.12", "6.18"}) {
    QueueLab lab(arm);
    Task& curr = lab.running(0, 3 * kMs);
    lab.queued(0, 4 * kMs);
    eevdf::cancel_protection(curr.se);
    EXPECT_FALSE(eevdf::is_protected(lab.k, curr.se)) << arm;
  }
  QueueLab lab("6.18");
  Task& curr = lab.running(0, 2'800'000);
  lab.move(curr, 200'000, 2'800'000);
  lab.set_slice(lab.queued(0, 10 * kMs), 500_us);
  eevdf::shrink_protection(lab.rq.cfs, curr.se);
  EXPECT_EQ(curr.se.vprot, 700'000);
  lab.move(curr, 600'000, 2'800'000);
  eevdf::shrink_protection(lab.rq.cfs, curr.se);
  EXPECT_EQ(curr.se.vprot, 700'000);  // it only shrinks
}

}  // namespace
}  // namespace runqlab::sched
