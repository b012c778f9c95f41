// trace/import/reorder.h — events in order of time, out of a file that is nearly so.
// An event is held back until one is seen that is `window` later and `least` others wait.
// Recordings are sorted but for a few neighbours (perf merges per-CPU buffers in rounds), so what
// arrives in order goes through a plain queue; only stragglers pay for a heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "trace/event.h"

namespace runqlab::trace {

class Reorder {
 public:
  // At most `limit` events are held back, whatever the window.
  Reorder(int64_t window_ns, size_t least, size_t limit)
      : window_ns_(std::max<int64_t>(window_ns, 0)),
        least_(std::min(least, limit)),
        limit_(limit) {}

  // Event::line must grow from call to call: equal times leave in that order. An event earlier than
  // one that has left already leaves at once and is counted as late.
  template <class Sink>
  void push(const Event& event, Sink&& sink) {
    if (event.time_ns < left_ns_) {
      ++late_;
      sink(event);
      return;
    }
    if (head_ == queue_.size() || event.time_ns >= queue_.back().time_ns) {
      queue_.push_back(event);
    } else {
      heap_.push_back(event);
      std::push_heap(heap_.begin(), heap_.end(), after);
    }
    newest_ns_ = std::max(newest_ns_, event.time_ns);
    while (held() > least_ && earliest().time_ns <= newest_ns_ - window_ns_) pop(sink);
    while (held() > limit_) pop(sink);
  }

  template <class Sink>
  void flush(Sink&& sink) {
    while (held() != 0) pop(sink);
  }

  [[nodiscard]] uint64_t late() const { return late_; }

 private:
  static bool after(const Event& a, const Event& b) {
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.line > b.line;
  }
  [[nodiscard]] size_t held() const { return queue_.size() - head_ + heap_.size(); }
  [[nodiscard]] bool heap_is_first() const {
    if (heap_.empty()) return false;
    return head_ == queue_.size() || after(queue_[head_], heap_.front());
  }
  [[nodiscard]] const Event& earliest() const {
    return heap_is_first() ? heap_.front() : queue_[head_];
  }

  template <class Sink>
  void pop(Sink&& sink) {
    Event event;
    if (heap_is_first()) {
      std::pop_heap(heap_.begin(), heap_.end(), after);
      event = heap_.back();
      heap_.pop_back();
    } else {
      event = queue_[head_++];
      if (head_ == queue_.size()) {
        queue_.clear();
        head_ = 0;
      } else if (head_ >= kCompact && head_ * 2 >= queue_.size()) {
        queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(head_));
        head_ = 0;
      }
    }
    RQL_AUDIT(event.time_ns >= left_ns_);
    left_ns_ = event.time_ns;
    sink(event);
  }

  // Moving the queue's rest to the front costs less than one copy per event when done this rarely.
  static constexpr size_t kCompact = 1024;
  int64_t window_ns_;
  size_t least_, limit_;
  int64_t newest_ns_ = INT64_MIN;
  int64_t left_ns_ = INT64_MIN;
  uint64_t late_ = 0;
  std::vector<Event> queue_;  // ascending from head_ on
  size_t head_ = 0;
  std::vector<Event> heap_;  // min-heap
};

}  // namespace runqlab::trace
