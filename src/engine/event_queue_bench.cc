// A scheduler-like mix: one slot per CPU fires and is armed again a little later, one in four
// moves a timer of another CPU.
#include "engine/event_queue.h"

#include <benchmark/benchmark.h>

#include "base/rng.h"

namespace runqlab {
namespace {

void EventQueueMix(benchmark::State& state) {
  const auto cpus = static_cast<size_t>(state.range(0));
  EventQueue queue;
  queue.grow(2 * cpus);
  RandomStream random = Rng(1).stream("bench");
  for (size_t i = 0; i < 2 * cpus; ++i) {
    queue.arm(SlotId::of(i), SimTime::from_ns(random.between(0, 10'000)), Phase::work);
  }
  for (auto _ : state) {
    const EventQueue::Event e = queue.pop();
    queue.arm(e.slot, e.time + Duration::nanos(random.between(500, 10'000)), Phase::work);
    if (random.below(4) == 0) {
      queue.arm(SlotId::of(random.below(2 * cpus)),
                e.time + Duration::nanos(random.between(500, 10'000)), Phase::work);
    }
  }
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(EventQueueMix)->Arg(4)->Arg(72)->Arg(1024);

}  // namespace
}  // namespace runqlab
