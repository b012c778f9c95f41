#include "sched/cfs.h"

#include <gtest/gtest.h>

#include "sched/queue_lab.h"
#include "trace/import/vectors.h"

namespace runqlab::sched {
namespace {

using namespace literals;

const std::string kVectors = std::string(RUNQLAB_TEST_DATA) + "/vectors/";

LoadWeight weight(int64_t w) { return {static_cast<uint64_t>(w) << kWeightShift, 0}; }

class Cfs : public testing::Test {
 protected:
  const FairParams& params(int64_t cpus) {
    return params_.emplace(cpus, fair_params(config_, static_cast<size_t>(cpus), 4_ms))
        .first->second;
  }
  const KernelConfig config_ = kernel_of("6.1").value();
  std::map<int64_t, FairParams> params_;
  CfsRq q_;
  Entity se_;
};

TEST_F(Cfs, SlicesOfEqualTasks) {
  for (const VectorRow& row : VectorFile(kVectors + "cfs_slice_equal.csv")) {
    const FairParams& k = params(row.number("online_cpus"));
    EXPECT_EQ(k.latency_ns, row.number("sched_latency"));
    EXPECT_EQ(k.min_granularity_ns, row.number("min_granularity"));
    EXPECT_EQ(k.wakeup_granularity_ns, row.number("wakeup_granularity"));
    q_.nr_queued = static_cast<uint32_t>(row.number("nr_running"));
    q_.load = q_.nr_queued * kNice0Stored;
    se_.load = nice_weight(0);
    se_.on_rq = true;
    EXPECT_EQ(cfs::slice(k, q_, se_), row.number("slice_after_min_gran")) << row.to_string();
  }
}

TEST_F(Cfs, SlicesByWeight) {
  for (const VectorRow& row : VectorFile(kVectors + "cfs_slice_weighted.csv")) {
    q_ = {};
    std::stringstream weights(row.text("queue_weights"));
    for (std::string w; std::getline(weights, w, '+'); ++q_.nr_queued) {
      q_.load += weight(std::stoll(w)).stored;
    }
    se_.load = weight(row.number("entity_weight"));
    se_.on_rq = true;
    const FairParams& k = params(row.number("online_cpus"));
    EXPECT_EQ(cfs::slice(k, q_, se_), row.number("slice")) << row.to_string();
    EXPECT_EQ(cfs::vslice(k, q_, se_), row.number("vslice")) << row.to_string();
  }
}

TEST_F(Cfs, Placement) {
  for (const VectorRow& row : VectorFile(kVectors + "cfs_place_entity.csv")) {
    const FairParams& k = params(row.number("online_cpus"));
    const std::string& kind = row.text("kind");
    q_ = {};
    q_.reference = row.number("min_vruntime");
    se_ = {.load = nice_weight(0), .vruntime = row.number("vruntime_before"), .relative = false};
    se_.idle_policy = kind == "wake_idle_policy";
    if (kind == "fork_nr2_n0") {
      Entity parent{.load = nice_weight(0), .vruntime = se_.vruntime, .on_rq = true};
      q_.curr = &parent;
      q_.nr_queued = 1;
      q_.load = kNice0Stored;
      cfs::place_child(k, q_, se_);
      EXPECT_TRUE(se_.relative);
    }
    cfs::place(k, q_, se_, kind.starts_with("wake"));
    EXPECT_EQ(se_.vruntime, row.number("vruntime_after")) << row.to_string();
  }
}

TEST_F(Cfs, WakeupPreemption) {
  for (const VectorRow& row : VectorFile(kVectors + "cfs_wakeup_preempt.csv")) {
    const FairParams& k = params(row.number("online_cpus"));
    const Entity curr{.vruntime = row.number("curr_minus_wakee_vruntime")};
    const Entity wakee{.load = nice_weight(static_cast<int>(row.number("wakee_nice")))};
    EXPECT_EQ(cfs::preempt_test(k, curr, wakee), row.number("result")) << row.to_string();
  }
}

// --- Buddies ---------------------------------------------------------------------------------

TEST(CfsBuddies, NextComesBeforeLastBeforeTheLeftmost) {
  QueueLab lab("6.1");
  Task& left = lab.queued(0, 0);
  Task& next = lab.queued(3'000'000, 0);
  Task& last = lab.queued(3'000'000, 0);
  lab.rq.cfs.last = &last.se;
  EXPECT_EQ(lab.fair.pick(lab.rq, {}), last.id);
  lab.rq.cfs.next = &next.se;
  EXPECT_EQ(lab.fair.pick(lab.rq, {}), next.id);
  // Not when it is more than the wakeup granularity ahead.
  lab.move(next, 4'000'001, 0);
  EXPECT_EQ(lab.fair.pick(lab.rq, {}), last.id);
  lab.rq.cfs.last = nullptr;
  EXPECT_EQ(lab.fair.pick(lab.rq, {}), left.id);
}

TEST(CfsBuddies, AYieldLetsTheNextOneRunUnlessItIsFarAhead) {
  QueueLab lab("6.1");
  Task& a = lab.running(0, 0);
  Task& b = lab.queued(4'000'000, 0);
  lab.fair.yield(lab.rq, a, {});
  EXPECT_EQ(lab.schedule({}), b.id);
  lab.fair.yield(lab.rq, b, {});
  lab.move(a, -5'000'000, 0);
  EXPECT_EQ(lab.schedule({}), a.id);
}

TEST(CfsBuddies, AWakeupInALongQueueMarksWhomItPreempts) {
  QueueLab lab("6.1");
  Task& curr = lab.running(10'000'000, 0);
  for (int i = 0; i < 6; ++i) lab.queued(20'000'000, 0);
  Task& wakee = lab.queued(0, 0);
  EXPECT_TRUE(lab.preempts(wakee, {}));
  EXPECT_EQ(lab.rq.cfs.last, &curr.se);
  EXPECT_EQ(lab.rq.cfs.next, &wakee.se);
  lab.schedule({});
  EXPECT_EQ(lab.rq.cfs.next, nullptr);
  QueueLab off("6.1,NO_LAST_BUDDY");
  off.running(10'000'000, 0);
  for (int i = 0; i < 6; ++i) off.queued(20'000'000, 0);
  EXPECT_TRUE(off.preempts(off.queued(0, 0), {}));
  EXPECT_EQ(off.rq.cfs.last, nullptr);
}

// --- min_vruntime ----------------------------------------------------------------------------

TEST(CfsQueue, ATaskKeepsItsPlaceRelativeToTheQueueThatItLeaves) {
  QueueLab from("6.1"), to("6.1");
  from.queued(1'000'000, 0);
  Task& p = from.queued(5'000'000, 0);
  cfs::update_min_vruntime(from.rq.cfs);
  to.queued(70'000'000, 0);
  cfs::update_min_vruntime(to.rq.cfs);
  from.fair.dequeue(from.rq, p, {.migrating = true}, {});
  to.fair.enqueue(to.rq, p, {.migrated = true}, {});
  EXPECT_EQ(p.se.vruntime, 74'000'000);
}

TEST(CfsQueue, MinVruntimeNeverMovesBack) {
  QueueLab lab("6.1");
  lab.queued(9'000'000, 0);
  cfs::update_min_vruntime(lab.rq.cfs);
  lab.queued(1'000'000, 0);
  cfs::update_min_vruntime(lab.rq.cfs);
  EXPECT_EQ(lab.rq.cfs.reference, 9'000'000);
}

}  // namespace
}  // namespace runqlab::sched
