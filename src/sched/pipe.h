// sched/pipe.h — a pipe's buffer and who waits for it (FAIR.md G.1). State only: the caller puts
// tasks to sleep and wakes those that are named here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/ring.h"
#include "base/types.h"

namespace runqlab::sched {

class Pipe {
 public:
  static constexpr int64_t kPage = 4096;

  explicit Pipe(int64_t capacity_pages) : capacity_(static_cast<size_t>(capacity_pages)) {}

  [[nodiscard]] bool empty() const { return pages_.empty(); }
  [[nodiscard]] bool full() const { return pages_.size() == capacity_; }

  // Whether `bytes` fit now: into the last page as a whole, or into new pages.
  [[nodiscard]] bool has_room(int64_t bytes) const {
    if (!pages_.empty() && pages_.back().end + bytes <= kPage) return true;
    const auto pages = static_cast<size_t>((bytes + kPage - 1) / kPage);
    return pages_.size() + pages <= capacity_;
  }

  // Call only when has_room(bytes).
  void put(int64_t bytes) {
    if (!pages_.empty() && pages_.back().end + bytes <= kPage) {
      pages_.back().end += bytes;
      return;
    }
    for (; bytes > 0; bytes -= kPage) pages_.push_back({0, std::min(bytes, kPage)});
  }

  // Takes up to `bytes`; a page that was read to its end is free again.
  void take(int64_t bytes) {
    while (bytes > 0 && !pages_.empty()) {
      Page& p = pages_.front();
      const int64_t n = bytes < p.end - p.begin ? bytes : p.end - p.begin;
      p.begin += n;
      bytes -= n;
      if (p.begin == p.end) pages_.pop_front();
    }
  }

  // Sleepers, first come first served; one is woken at a time.
  Ring<TaskId> readers, writers;

 private:
  struct Page {
    int64_t begin, end;
  };
  Ring<Page> pages_;
  size_t capacity_;
};

}  // namespace runqlab::sched
