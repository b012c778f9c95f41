// The loop of a run does not allocate once its queues have found their size, and a task costs
// little memory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "sim/simulation.h"
#include "workload/models/models.h"

// Sanitizers bring an allocator of their own.
#if !defined(__SANITIZE_ADDRESS__)

namespace {
uint64_t g_allocations = 0;
int64_t g_bytes = 0;  // of all that is allocated now
}  // namespace

void* operator new(size_t size) {
  auto* p = static_cast<size_t*>(std::malloc(size + sizeof(std::max_align_t)));
  if (p == nullptr) throw std::bad_alloc();
  *p = size;
  ++g_allocations;
  g_bytes += static_cast<int64_t>(size);
  return reinterpret_cast<char*>(p) + sizeof(std::max_align_t);
}
void operator delete(void* p) noexcept {
  if (p == nullptr) return;
  auto* const block = reinterpret_cast<size_t*>(static_cast<char*>(p) - sizeof(std::max_align_t));
  g_bytes -= static_cast<int64_t>(*block);
  std::free(block);
}
void operator delete(void* p, size_t) noexcept { operator delete(p); }

namespace runqlab::sim {
namespace {

machine::MachineSpec machine_of(const std::string& synthetic) {
  return machine::load_machine(synthetic).value();
}

// Allocations by the time of the records.
class Count : public RecordSink {
 public:
  explicit Count(int64_t warm_ns) : warm_ns_(warm_ns) {}
  void consume(std::span<const Record> records) override {
    if (at_warm_ == 0 && records.front().time_ns >= warm_ns_) at_warm_ = g_allocations;
    at_last_ = g_allocations;
    ++chunks_;
  }
  [[nodiscard]] uint64_t since_warm() const { return at_last_ - at_warm_; }
  [[nodiscard]] bool measured() const { return at_warm_ != 0 && chunks_ > 4; }

 private:
  int64_t warm_ns_;
  uint64_t at_warm_ = 0, at_last_ = 0;
  int chunks_ = 0;
};

uint64_t allocations(const std::string& machine, const std::string& workload, int64_t warm_ns) {
  const machine::MachineSpec spec = machine_of(machine);
  const Workload w = workload::build_workload(workload, spec.topology.nr_cpus()).value();
  Recorder recorder;
  Count count(warm_ns);
  recorder.add_sink(&count);
  Simulation s({.machine = spec, .kernel = sched::kernel_of("6.18").value()}, w, recorder);
  s.run();
  EXPECT_TRUE(count.measured());
  return count.since_warm();
}

TEST(Allocation, NoneInTheLoopAfterWarmUp) {
  EXPECT_EQ(allocations("pack:1 l3:1 core:4 pu:1", "pipe:pairs=2,loops=5000", 5'000'000), 0U);
  EXPECT_EQ(allocations("pack:2 l3:1 core:18 pu:2", "pipe:pairs=36,loops=1000", 2'000'000), 0U);
  EXPECT_EQ(allocations("pack:1 l3:1 core:4 pu:1", "hogs:nice=0/0/0/0/0/0/0/0,duration=60s",
                        20'000'000'000),
            0U);
}

int64_t bytes_of(size_t pairs) {
  const machine::MachineSpec spec = machine_of("pack:1 l3:1 core:4 pu:1");
  const Workload w =
      workload::build_workload("pipe:loops=1,pairs=" + std::to_string(pairs), 4).value();
  Recorder recorder;
  const int64_t before = g_bytes;
  Simulation s({.machine = spec, .kernel = sched::kernel_of("6.18").value()}, w, recorder);
  s.run();
  return g_bytes - before;
}

TEST(Allocation, ATaskTakesAKilobyteAtMost) {
  const int64_t per_task = (bytes_of(4000) - bytes_of(2000)) / 4000;
  EXPECT_LE(per_task, 1024);
  EXPECT_GT(per_task, 200);
}

}  // namespace
}  // namespace runqlab::sim

#endif
