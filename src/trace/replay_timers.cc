// Timers on a clock. A sleep by the task's own timer is re-run relative to its start; but a task
// that works in periods (clock_nanosleep with TIMER_ABSTIME, timerfd) asks for a point in time,
// however long its work took. Such a task wakes at even distances although its sleeps differ in
// length.
#include <algorithm>

#include "trace/replay_builder.h"

namespace runqlab::trace {
namespace {

constexpr size_t kLeastSleeps = 5;
constexpr int64_t kEvenNs = 100'000;  // more than timer slack (50 us) and delivery

int64_t median(std::vector<int64_t> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

// How many of the values lie near their median.
size_t even(const std::vector<int64_t>& v) {
  const int64_t m = median(v);
  return static_cast<size_t>(
      std::count_if(v.begin(), v.end(), [m](int64_t x) { return std::abs(x - m) <= kEvenNs; }));
}

}  // namespace

void ReplayBuilder::put_timers_on_clock(TaskTrack& t) {
  const std::vector<TimerSleep>& sleeps = t.timer_sleeps;
  if (sleeps.size() < kLeastSleeps) return;
  std::vector<int64_t> periods, lengths;
  for (size_t i = 0; i < sleeps.size(); ++i) {
    lengths.push_back(sleeps[i].until_ns - sleeps[i].from_ns);
    if (i != 0) periods.push_back(sleeps[i].until_ns - sleeps[i - 1].until_ns);
  }
  // At least 4 in 5 periods are even, and at most half of the sleeps.
  if (5 * even(periods) < 4 * periods.size() || 2 * even(lengths) > lengths.size()) return;
  for (const TimerSleep& s : sleeps) {
    t.ops[s.op].op = op::bare(op::sleep_until(sim_time(s.until_ns)));
    ++counts_.periodic;
    --counts_.timers;
  }
}

}  // namespace runqlab::trace
