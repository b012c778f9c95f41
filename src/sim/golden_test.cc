// What a fixed run comes to, decision by decision. A hash that changes is a change of behaviour or
// of default costs: if it was meant, put the new one here and say so in the commit.
#include <gtest/gtest.h>

#include "sim/lab.h"

namespace runqlab::sim {
namespace {

using namespace literals;

// Some of everything, more than the 16 CPUs of two sockets can run at once.
uint64_t state_hash(const std::string& arm) {
  constexpr const char* kMachine = "pack:2 l3:1 core:4 pu:2";
  Lab lab(kMachine, arm);
  lab.costs() = machine::load_machine(kMachine).value().costs;
  const auto name = [](const char* kind, int i) { return kind + std::to_string(i); };
  for (int i = 0; i < 12; ++i) lab.task(name("hog", i)).nice(i % 3 * 5 - 5).run(60_ms);
  for (int i = 0; i < 3; ++i) lab.task(name("pinned", i)).on("5").run(20_ms);
  for (int i = 0; i < 12; ++i) {
    lab.task(name("sleeper", i)).run(300_us + 70_us * i).sleep(1_ms + 130_us * i).times(20);
  }
  for (int i = 0; i < 4; ++i) {
    const ObjId there = lab.pipe(), back = lab.pipe();
    lab.task(name("writer", i)).write(there.value()).read(back.value()).times(100);
    lab.task(name("reader", i)).read(there.value()).run(5_us).write(back.value()).times(100);
  }
  lab.task("fifo").fifo(10).run(200_us).sleep(3_ms).times(15);
  lab.task("batch").policy(Policy::batch).run(1_ms).sleep(2_ms).times(10);
  lab.task("idle").policy(Policy::idle).run(30_ms);
  lab.task("waker").run(2_ms).wake("wakee", true).run(50_us).sleep(1_ms).times(10);
  lab.task("wakee").waits(3).run(400_us).block().times(10);
  lab.task("changes").run(4_ms).set_nice(10).run(4_ms).yield().run(1_ms);
  return lab.run(300_ms).state_hash;
}

std::string all_off(const std::string& policy) {
  std::string arm = "6.18," + policy;
  for (const sched::FeatureInfo& f : sched::feature_table()) {
    if (f.name != "EEVDF") arm += ",NO_" + std::string(f.name);
  }
  return arm;
}

TEST(GoldenHash, EverythingOff) {
  EXPECT_EQ(state_hash(all_off("NO_EEVDF")), 16255113221699128560U);
  EXPECT_EQ(state_hash(all_off("EEVDF")), 13607672596550635384U);
}

TEST(GoldenHash, DefaultsByKernel) {
  EXPECT_EQ(state_hash("6.1"), 16778239427298512847U);
  EXPECT_EQ(state_hash("6.12"), 318875520572698211U);
  EXPECT_EQ(state_hash("6.12.95"), 7093443980963214649U);
  EXPECT_EQ(state_hash("6.18"), 17374530835947445782U);
  EXPECT_EQ(state_hash("6.18.44"), 8982780610827012785U);
  EXPECT_EQ(state_hash("7.1"), 10206589118564828009U);
  EXPECT_EQ(state_hash("6.18,preempt=lazy"), 11011591538038539467U);
}

}  // namespace
}  // namespace runqlab::sim
