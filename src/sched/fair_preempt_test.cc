// Whether a task that was just queued preempts the running one, by kernel (FAIR.md B.5, B.6).
#include <gtest/gtest.h>

#include "sched/queue_lab.h"

namespace runqlab::sched {
namespace {

using namespace literals;

constexpr int64_t kMs = 1'000'000;

// No kernel that old is a profile yet: 6.12 without what it brought.
constexpr const char* k66 =
    "6.12,NO_DELAY_DEQUEUE,NO_DELAY_ZERO,NO_PREEMPT_SHORT,NO_INELIGIBLE_RESCHED,"
    "NO_PLACE_REL_DEADLINE";

SimTime at(Duration d) { return SimTime{} + d; }

// C runs with deadline 2.8 ms and is eligible; P, with an earlier deadline, was just woken.
struct Situation {
  explicit Situation(std::string_view arm) : lab(arm) {}
  QueueLab lab;
  Task& c = lab.running(0, 2'800'000);
  Task& p = lab.queued(0, 2 * kMs);
  bool preempts(bool fork = false) { return lab.preempts(p, SimTime{}, fork); }
};

TEST(WakeupPreempt, AProtectedTaskGoesOn) {
  for (const char* arm : {"6.12", "6.15", "6.17", "6.18", "6.18.44"}) {
    EXPECT_FALSE(Situation(arm).preempts()) << arm;
  }
}

TEST(WakeupPreempt, WithoutRunToParityTheEarlierDeadlinePreempts) {
  EXPECT_TRUE(Situation("6.12,NO_RUN_TO_PARITY").preempts());
  // From 6.17 the first 0.7 ms are protected all the same.
  Situation s("6.18,NO_RUN_TO_PARITY");
  EXPECT_FALSE(s.preempts());
  s.lab.move(s.c, 700'000, 2'800'000);
  s.lab.move(s.p, 700'000, 2 * kMs);
  EXPECT_TRUE(s.preempts());
}

TEST(WakeupPreempt, ATaskThatIsNotEligibleIsPreempted) {
  for (const char* arm : {"6.12", "6.18", "6.18.44"}) {
    Situation s(arm);
    s.lab.move(s.c, 1000, 2'800'000);
    EXPECT_TRUE(s.preempts()) << arm;
  }
}

TEST(WakeupPreempt, OnlyThePickedTaskPreempts) {
  Situation s("6.18");
  s.lab.move(s.c, 1000, 2'800'000);
  s.lab.queued(0, kMs);  // it would be picked, not P
  EXPECT_FALSE(s.preempts());
}

TEST(WakeupPreempt, BatchAndIdlePolicyDoNot) {
  for (const char* arm : {"6.12", "6.18"}) {
    for (const Policy policy : {Policy::batch, Policy::idle}) {
      Situation s(arm);
      s.lab.move(s.c, 1000, 2'800'000);
      s.p.policy = policy;
      EXPECT_FALSE(s.preempts()) << arm;
    }
  }
}

TEST(WakeupPreempt, AnIdlePolicyTaskGivesWay) {
  for (const char* arm : {k66, "6.12", "6.15", "6.18"}) {
    for (const Policy policy : {Policy::normal, Policy::batch}) {
      Situation s(arm);
      s.c.policy = Policy::idle;
      s.p.policy = policy;
      EXPECT_TRUE(s.preempts()) << arm;
    }
    Situation both(arm);
    both.lab.move(both.c, 1000, 2'800'000);
    both.c.policy = both.p.policy = Policy::idle;
    EXPECT_FALSE(both.preempts()) << arm;
  }
}

// Until 6.15 it asks for a reschedule, and is picked again while protected and eligible.
TEST(WakeupPreempt, TheProtectionOfAnIdlePolicyTask) {
  Situation before("6.12");
  before.c.policy = Policy::idle;
  EXPECT_TRUE(before.preempts());
  EXPECT_EQ(before.lab.schedule(SimTime{}), before.c.id);
  Situation after("6.15");
  after.c.policy = Policy::idle;
  EXPECT_TRUE(after.preempts());
  EXPECT_EQ(after.lab.schedule(SimTime{}), after.p.id);
}

TEST(WakeupPreempt, AShorterSlicePreemptsAProtectedTask) {
  for (const char* arm : {"6.12", "6.15", "6.17", "6.18", "6.18.44"}) {
    Situation s(arm);
    s.lab.set_slice(s.p, 1_ms);
    EXPECT_TRUE(s.preempts()) << arm;
    EXPECT_EQ(s.lab.schedule(SimTime{}), s.p.id) << arm;
  }
  Situation off("6.12,NO_PREEMPT_SHORT");
  off.lab.set_slice(off.p, 1_ms);
  EXPECT_FALSE(off.preempts());
}

TEST(WakeupPreempt, AShorterSliceHelpsOnlyTheEligible) {
  for (const char* arm : {"6.12", "6.18"}) {
    Situation s(arm);
    s.lab.set_slice(s.p, 1_ms);
    s.lab.move(s.p, 1000, 1001);
    EXPECT_FALSE(s.preempts()) << arm;
  }
}

// 6.18 takes the protection away for the pick only; what is left of it afterwards ends with the
// shorter slice.
TEST(WakeupPreempt, AShorterSliceThatWaitsShrinksTheProtection) {
  Situation s("6.18");
  s.lab.set_slice(s.p, 1_ms);
  s.lab.queued(0, kMs);  // the earliest deadline is another's
  s.lab.move(s.c, 0, 2'800'000);
  EXPECT_EQ(s.c.se.vprot, 2'800'000);
  EXPECT_FALSE(s.preempts());
  EXPECT_EQ(s.c.se.vprot, kMs);
}

TEST(WakeupPreempt, VprotShrinksForEqualSlicesWithTheBackport) {
  Situation plain("6.18");
  EXPECT_FALSE(plain.preempts());
  EXPECT_EQ(plain.c.se.vprot, 2'800'000);
  Situation s("6.18.44");
  s.lab.set_slice(s.lab.queued(0, 9 * kMs), 2_ms);
  EXPECT_FALSE(s.preempts());
  EXPECT_EQ(s.c.se.vprot, 2 * kMs);
}

TEST(WakeupPreempt, ForksWaitFrom619On) {
  Situation before("6.18");
  before.lab.move(before.c, 1000, 2'800'000);
  EXPECT_TRUE(before.preempts(true));
  Situation after("6.18.44");
  after.lab.move(after.c, 1000, 2'800'000);
  EXPECT_FALSE(after.preempts(true));
  EXPECT_TRUE(after.preempts(false));
  after.lab.set_slice(after.p, 1_ms);  // unless its slice is shorter
  EXPECT_TRUE(after.preempts(true));
}

TEST(WakeupPreempt, NothingIsAskedOnceARescheduleIsPending) {
  Situation s("6.18");
  s.lab.move(s.c, 1000, 2'800'000);
  EXPECT_FALSE(s.lab.fair.wakeup_preempt(s.lab.rq, s.p, false, true, SimTime{}));
  EXPECT_FALSE(s.lab.fair.wakeup_preempt(s.lab.rq, s.c, false, false, SimTime{}));
  Situation off("6.18,NO_WAKEUP_PREEMPTION");
  off.lab.move(off.c, 1000, 2'800'000);
  EXPECT_FALSE(off.preempts());
}

// The wakeup brings the running task's time up to date, and with that its request may end.
TEST(WakeupPreempt, AnExpiredRequestIsNoticed) {
  for (const char* arm : {"6.12", "6.18"}) {
    Situation s(arm);
    s.lab.move(s.p, 10 * kMs, 20 * kMs);  // it will not be picked
    EXPECT_TRUE(s.lab.preempts(s.p, at(3_ms))) << arm;
    EXPECT_EQ(s.c.se.deadline, 3 * kMs + 2'800'000 + (s.lab.k.base_slice_ns - 2'800'000)) << arm;
  }
}

// A delayed sleeper that is the best pick hides the wakee, until 7.1 takes it off the queue.
TEST(WakeupPreempt, ADelayedTaskInTheWay) {
  for (const bool dequeues : {false, true}) {
    Situation s(dequeues ? "6.18,WAKEUP_PICK_DEQUEUES" : "6.18");
    Task& sleeper = s.lab.queued(0, kMs);
    s.lab.move(s.c, 3000, 2'800'000);
    sleeper.se.delayed = true;
    ++s.lab.rq.cfs.nr_delayed;
    EXPECT_EQ(s.preempts(), dequeues);
    EXPECT_EQ(sleeper.se.on_rq, !dequeues);
  }
}

// --- Update of the running task ----------------------------------------------------------------

TEST(UpdateCurr, AsksForARescheduleWhenTheRequestIsUsedUp) {
  for (const char* arm : {k66, "6.12", "6.18"}) {
    QueueLab lab(arm);
    Task& c = lab.running(0, 2 * kMs);
    EXPECT_FALSE(lab.fair.update_curr(lab.rq, at(2_ms))) << arm;  // alone
    EXPECT_EQ(c.se.deadline, 2 * kMs + lab.k.base_slice_ns);
    lab.queued(0, 100 * kMs);
    EXPECT_TRUE(lab.fair.update_curr(lab.rq, at(20_ms))) << arm;
    EXPECT_EQ(c.se.vruntime, 20 * kMs);
    EXPECT_EQ(c.se.sum_exec_ns, 20 * kMs);
    EXPECT_FALSE(lab.fair.update_curr(lab.rq, at(20_ms))) << arm;  // no time has passed
  }
}

// 6.12 to 6.16 notice that an unprotected task is not eligible any more, 6.17 that its protection
// is over.
TEST(UpdateCurr, AsksForARescheduleWithinTheRequest) {
  struct Case {
    const char* arm;
    bool ineligible, unprotected;
  };
  for (const auto& [arm, ineligible, unprotected] : {Case{k66, false, false},
                                                     {"6.12", true, false},
                                                     {"6.16", true, false},
                                                     {"6.17", true, true},
                                                     {"6.18", true, true}}) {
    for (const bool behind : {false, true}) {
      QueueLab lab(arm);
      Task& c = lab.running(0, 2 * kMs);
      lab.queued(behind ? 5 * kMs : 0, 9 * kMs);
      eevdf::cancel_protection(c.se);
      EXPECT_EQ(lab.fair.update_curr(lab.rq, at(1_ms)), behind ? unprotected : ineligible) << arm;
    }
  }
}

TEST(UpdateCurr, AProtectedTaskIsLeftAlone) {
  for (const char* arm : {"6.12", "6.18"}) {
    QueueLab lab(arm);
    lab.running(0, 2 * kMs);
    lab.queued(0, 9 * kMs);
    EXPECT_FALSE(lab.fair.update_curr(lab.rq, at(1_ms))) << arm;
  }
}

// --- Next buddy --------------------------------------------------------------------------------

// N is marked as next buddy, and eligible; O has an earlier deadline.
TaskId picked_with_next(std::string_view arm, bool eligible) {
  QueueLab lab(arm);
  Task& n = lab.queued(eligible ? 0 : 5000, 9 * kMs);
  lab.queued(0, kMs);
  lab.rq.cfs.next = &n.se;
  return lab.fair.pick(lab.rq, SimTime{});
}

TEST(NextBuddy, IsPickedFirstWhereTheKernelLooksAtIt) {
  constexpr TaskId kNext{0}, kOther{1};
  EXPECT_EQ(picked_with_next("6.12", true), kOther);
  EXPECT_EQ(picked_with_next("6.12,NEXT_BUDDY", true), kNext);
  for (const char* arm : {"6.12.95", "6.14", "6.18", "6.18.44"}) {
    EXPECT_EQ(picked_with_next(arm, true), kNext) << arm;
    EXPECT_EQ(picked_with_next(arm, false), kOther) << arm;
    EXPECT_EQ(picked_with_next(std::string(arm) + ",NO_PICK_BUDDY", true), kOther) << arm;
  }
}

TEST(NextBuddy, WakeupsMarkItWithTheFeature) {
  Situation off("6.18");
  off.preempts();
  EXPECT_EQ(off.lab.rq.cfs.next, nullptr);
  Situation on("6.18,NEXT_BUDDY");
  on.preempts();
  EXPECT_EQ(on.lab.rq.cfs.next, &on.p.se);
  on.lab.run(on.p, SimTime{});
  EXPECT_EQ(on.lab.rq.cfs.next, nullptr);
  Situation fork("6.18,NEXT_BUDDY");
  fork.preempts(true);
  EXPECT_EQ(fork.lab.rq.cfs.next, nullptr);
}

}  // namespace
}  // namespace runqlab::sched
