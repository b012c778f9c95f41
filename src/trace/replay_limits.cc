// How big a recording may be.
#include <fmt/core.h>

#include "engine/event_queue.h"
#include "trace/replay_builder.h"

namespace runqlab::trace {

// A replay keeps something for each task on each CPU, and its times go into an event queue. One
// wrong number in a recording is enough to ask for too much of either.
void ReplayBuilder::check_size(const Event& e) {
  constexpr size_t kMaxCells = size_t{1} << 25;
  if (e.time_ns - start_ns_ >= EventQueue::kMaxTime.ns()) {
    refusal_ =
        at(e, fmt::format("this event comes {} s after the first, but a replay can hold {} s",
                          (e.time_ns - start_ns_) / 1'000'000'000,
                          EventQueue::kMaxTime.ns() / 1'000'000'000));
  } else if (cpus_.size() * tracks_.size() > kMaxCells) {
    refusal_ = at(e, fmt::format("{} tasks on {} CPUs are more than a replay can hold",
                                 tracks_.size(), cpus_.size()));
  }
  if (refusal_) refusal_->hint = "take a window of the recording: --time START,STOP";
}

}  // namespace runqlab::trace
