#include "sched/kernel_config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace runqlab::sched {
namespace {

using namespace literals;

KernelConfig kernel(std::string_view name) { return kernel_of(name).value(); }
KernelConfig arm(std::string_view text) { return parse_arm(text, kernel("6.18")).value(); }
std::string error_of(std::string_view text) {
  const auto c = parse_arm(text, kernel("6.18"));
  return c.ok() ? "no error" : c.error().to_string();
}

bool on(std::string_view kernel_name, std::string_view feature) {
  const FeatureInfo* f = find_feature(feature);
  EXPECT_NE(f, nullptr) << feature;
  return f != nullptr && kernel(kernel_name).features.*f->field;
}

// --- Releases ----------------------------------------------------------------------------------

TEST(KernelOf, ReleasesAndStableReleases) {
  EXPECT_EQ(kernel("6.12").version, (Version{6, 12}));
  EXPECT_EQ(kernel("6.18.44").version, (Version{6, 18, 44}));
  EXPECT_EQ(kernel("6.18.44").arm(), "6.18.44");
  for (const char* name : {"", "6", "6.", "six", "6.18.", "6.18.1.2", "6.x", "-6.1", "6.18-rc1"}) {
    EXPECT_FALSE(kernel_of(name).ok()) << name;
  }
}

TEST(KernelOf, NothingIsUnknownOfAProfile) {
  for (const KernelInfo& k : kernel_table()) {
    EXPECT_TRUE(kernel(k.name).unknown.empty()) << k.name;
  }
  EXPECT_TRUE(kernel("6.14").unknown.empty());  // between two profiles: changes have dates
  EXPECT_TRUE(kernel("7.1").unknown.empty());
}

TEST(KernelOf, TheNearestProfileIsNamed) {
  const KernelConfig old = kernel("5.15");
  ASSERT_EQ(old.unknown.size(), 1U);
  EXPECT_NE(old.unknown[0].find("5.15 is older"), std::string::npos);
  EXPECT_EQ(old.identity(), kernel("5.18").identity());
  EXPECT_NE(kernel("7.2").unknown[0].find("newer"), std::string::npos);
  EXPECT_EQ(kernel("7.2").identity(), kernel("7.1").identity());
  const KernelConfig stable = kernel("6.18.7");
  EXPECT_NE(stable.unknown[0].find("back-ports"), std::string::npos);
  EXPECT_EQ(stable.identity(), kernel("6.18").identity());
  EXPECT_TRUE(kernel("6.18.0").unknown.empty());
}

// The release that a change came with, and the one before it.
TEST(KernelOf, FeaturesByRelease) {
  struct Change {
    const char* feature;
    const char* before;
    const char* since;
    bool on = true;
  };
  for (const auto& [feature, before, since, value] : {
           Change{"PICK_BUDDY", "6.13", "6.14"},
           Change{"IDLE_CANCELS_PROTECTION", "6.14", "6.15"},
           Change{"SYNC_IGNORES_DELAYED", "6.15", "6.16"},
           Change{"VPROT", "6.16", "6.17"},
           Change{"INELIGIBLE_RESCHED", "6.16", "6.17", false},
           Change{"NEWIDLE_BUMP", "6.16", "6.17"},
           Change{"REFERENCE_IS_LAST_V", "6.17", "6.18"},
           Change{"NEWIDLE_BUMP", "6.18", "6.19", false},
           Change{"NI_RANDOM", "6.18", "6.19"},
           Change{"YIELD_FORFEITS", "6.18", "6.19"},
           Change{"WAKEUP_NO_FORK_PREEMPT", "6.18", "6.19"},
           Change{"VPROT_SHRINK_ALWAYS", "6.18", "6.19"},
           Change{"BUDDY_IN_PICK", "6.18", "6.19"},
           Change{"LAG_LIMIT_QUEUE", "6.19", "7.0"},
           Change{"VPROT_AT_PICK_ONLY", "6.19", "7.0"},
           Change{"WAKEUP_PICK_DEQUEUES", "7.0", "7.1"},
       }) {
    EXPECT_EQ(on(before, feature), !value) << feature << ' ' << before;
    EXPECT_EQ(on(since, feature), value) << feature << ' ' << since;
  }
  for (const char* feature :
       {"DELAY_DEQUEUE", "DELAY_ZERO", "PREEMPT_SHORT", "PLACE_LAG", "PLACE_DEADLINE_INITIAL",
        "PLACE_REL_DEADLINE", "RUN_TO_PARITY", "SIS_UTIL", "SIS_CLUSTER", "RECENT_USED_MASK",
        "TTWU_QUEUE", "WA_IDLE", "WA_WEIGHT", "WA_BIAS", "SM_IDLE", "WAKEUP_PREEMPTION"}) {
    EXPECT_TRUE(on("6.12", feature)) << feature;
    EXPECT_TRUE(on("7.1", feature)) << feature;
  }
  for (const char* feature : {"NEXT_BUDDY", "SLOWPATH_ALLOWED_ONLY"}) {
    EXPECT_FALSE(on("6.12", feature)) << feature;
    EXPECT_FALSE(on("7.1", feature)) << feature;
  }
}

TEST(KernelOf, FeaturesOfKernelsThatAreNoProfileYet) {
  const Features f518 = features_of({5, 18}), f66 = features_of({6, 6});
  EXPECT_FALSE(f518.sis_util || f518.recent_used_mask || f518.place_lag || f518.run_to_parity);
  EXPECT_TRUE(f518.ttwu_queue && f518.wa_idle && f518.wakeup_preemption);
  EXPECT_TRUE(f66.sis_util && f66.recent_used_mask && f66.place_lag && f66.run_to_parity);
  EXPECT_FALSE(f66.delay_dequeue || f66.preempt_short || f66.sis_cluster || f66.sm_idle);
}

TEST(KernelOf, BackPortsOfTheRecordedKernels) {
  for (const char* feature : {"SYNC_IGNORES_DELAYED", "IDLE_CANCELS_PROTECTION", "YIELD_FORFEITS",
                              "PICK_BUDDY", "NI_RANDOM"}) {
    EXPECT_FALSE(on("6.12", feature)) << feature;
    EXPECT_TRUE(on("6.12.95", feature)) << feature;
  }
  for (const char* feature : {"SLOWPATH_ALLOWED_ONLY", "NEWIDLE_BUMP", "VPROT", "NEXT_BUDDY"}) {
    EXPECT_FALSE(on("6.12.95", feature)) << feature;
  }
  for (const char* feature : {"NI_RANDOM", "LAG_LIMIT_QUEUE", "VPROT_AT_PICK_ONLY",
                              "WAKEUP_NO_FORK_PREEMPT", "VPROT_SHRINK_ALWAYS", "BUDDY_IN_PICK",
                              "WAKEUP_PICK_DEQUEUES", "YIELD_FORFEITS", "SLOWPATH_ALLOWED_ONLY"}) {
    EXPECT_FALSE(on("6.18", feature)) << feature;
    EXPECT_TRUE(on("6.18.44", feature)) << feature;
  }
  EXPECT_FALSE(on("6.18.44", "NEWIDLE_BUMP"));
  EXPECT_FALSE(on("6.18.44", "NEXT_BUDDY"));
}

TEST(KernelOf, DefaultPreemptionModel) {
  EXPECT_EQ(kernel("6.12").tunables.preempt, Preempt::voluntary);
  EXPECT_EQ(kernel("6.12.95").tunables.preempt, Preempt::voluntary);
  EXPECT_EQ(kernel("6.13").tunables.preempt, Preempt::none);
  EXPECT_EQ(kernel("6.18.44").tunables.preempt, Preempt::none);
  EXPECT_EQ(kernel("7.0").tunables.preempt, Preempt::lazy);
}

TEST(KernelOf, BaseSliceGrowsWithTheCpus) {
  struct Row {
    const char* kernel;
    size_t cpus;
    Duration slice;
  };
  for (const auto& [name, cpus, slice] :
       {Row{"6.12", 1, 750_us}, Row{"6.12", 2, 1500_us}, Row{"6.12", 3, 1500_us},
        Row{"6.12", 4, 2250_us}, Row{"6.12", 8, 3_ms}, Row{"6.12", 256, 3_ms}, Row{"6.14", 8, 3_ms},
        Row{"6.15", 8, 2800_us}, Row{"6.18", 2, 1400_us}, Row{"6.12.95", 8, 2800_us},
        Row{"6.18.44", 2, 1400_us}}) {
    EXPECT_EQ(base_slice(kernel(name), cpus), slice) << name << ' ' << cpus;
  }
  EXPECT_EQ(base_slice(arm("base_slice_ns=5ms"), 8), 5_ms);  // as it stands
}

// --- Arms --------------------------------------------------------------------------------------

TEST(ParseArm, FeaturesTunablesAndTheModel) {
  const KernelConfig c = arm("6.12,NO_TTWU_QUEUE,NEXT_BUDDY,base_slice_ns=700000,preempt=full");
  EXPECT_EQ(c.kernel, "6.12");
  EXPECT_FALSE(c.features.ttwu_queue);
  EXPECT_TRUE(c.features.next_buddy);
  EXPECT_EQ(c.tunables.base_slice_ns, 700_us);
  EXPECT_EQ(c.tunables.preempt, Preempt::full);
  EXPECT_EQ(c.arm(), "6.12,NO_TTWU_QUEUE,NEXT_BUDDY,base_slice_ns=700000,preempt=full");
  EXPECT_EQ(arm("migration_cost_ns=1.5ms").tunables.migration_cost_ns, 1500_us);
  EXPECT_EQ(arm("nr_migrate=8").tunables.nr_migrate, 8);
}

TEST(ParseArm, WithoutAKernelTheBaseIsChanged) {
  const KernelConfig base = arm("6.12,NO_SIS_UTIL");
  const KernelConfig c = parse_arm("NO_WA_IDLE", base).value();
  EXPECT_EQ(c.arm(), "6.12,NO_SIS_UTIL,NO_WA_IDLE");
  EXPECT_FALSE(c.features.sis_util);
  EXPECT_EQ(parse_arm("", base).value().identity(), base.identity());
  // A kernel starts afresh.
  EXPECT_TRUE(parse_arm("6.12", base).value().features.sis_util);
}

TEST(ParseArm, AWordTwiceIsRefused) {
  EXPECT_NE(error_of("NO_SIS_UTIL,SIS_UTIL").find("twice"), std::string::npos);
}

TEST(ParseArm, IdentityIsBehaviourNotWords) {
  EXPECT_EQ(arm("6.18,SIS_UTIL").identity(), arm("6.18").identity());
  EXPECT_EQ(arm("6.18,NO_WA_IDLE,NO_WA_BIAS").identity(),
            arm("6.18,NO_WA_BIAS,NO_WA_IDLE").identity());
  EXPECT_NE(arm("6.18,NO_WA_IDLE").identity(), arm("6.18").identity());
  EXPECT_NE(arm("6.18,preempt=full").identity(), arm("6.18").identity());
}

TEST(ParseArm, ErrorsSayWhatIsNear) {
  EXPECT_NE(error_of("6.18,SIS_UTILS").find("did you mean \"SIS_UTIL\""), std::string::npos);
  EXPECT_NE(error_of("NO_TTWU_QUEU").find("TTWU_QUEUE"), std::string::npos);
  EXPECT_NE(error_of("base_slice=3ms").find("base_slice_ns"), std::string::npos);
  EXPECT_NE(error_of("base_slice_ns=1").find("takes a number from 100000"), std::string::npos);
  EXPECT_NE(error_of("nr_migrate=many").find("many"), std::string::npos);
  EXPECT_NE(error_of("NO_WA_IDLE,6.12").find("comes first"), std::string::npos);
  EXPECT_NE(error_of("6.12,6.18").find("comes first"), std::string::npos);
  EXPECT_NE(error_of("6.18,,WA_IDLE").find("empty word"), std::string::npos);
  EXPECT_NE(error_of("preempt=rt").find("not modelled"), std::string::npos);
}

TEST(ParseArm, PreemptionModelsByRelease) {
  EXPECT_NE(error_of("6.12,preempt=lazy").find("6.13"), std::string::npos);
  EXPECT_EQ(arm("6.13,preempt=lazy").tunables.preempt, Preempt::lazy);
  for (const char* gone : {"7.0,preempt=none", "7.1,preempt=voluntary"}) {
    EXPECT_NE(error_of(gone).find("PREEMPT_NONE_GONE"), std::string::npos) << gone;
  }
  EXPECT_EQ(arm("7.0,preempt=full").tunables.preempt, Preempt::full);
}

TEST(Features, TheTableIsConsistent) {
  for (const FeatureInfo& f : feature_table()) {
    EXPECT_EQ(find_feature(f.name), &f);
    EXPECT_FALSE(f.name.starts_with("NO_")) << f.name;
    EXPECT_FALSE(f.what.empty() || f.source.empty()) << f.name;
    const bool ever = f.first_on().major != 0;
    EXPECT_EQ(ever, f.in(f.first_on())) << f.name;
    // Changes stand in the order of the releases.
    if (f.changes[1].version.major != 0) {
      EXPECT_LT(f.changes[0].version, f.changes[1].version);
    }
  }
  EXPECT_EQ(find_feature("NO_SUCH"), nullptr);
}

}  // namespace
}  // namespace runqlab::sched
