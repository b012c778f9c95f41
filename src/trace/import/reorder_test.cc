#include "trace/import/reorder.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"

namespace runqlab::trace {
namespace {

struct Seen {
  int64_t time_ns;
  uint64_t line;
  bool operator==(const Seen&) const = default;
};
void PrintTo(const Seen& s, std::ostream* os) { *os << s.time_ns << "@" << s.line; }
using History = std::vector<Seen>;

struct Options {
  int64_t window_ns;
  size_t least = 0;
  size_t limit = 1000;
};

History run(const std::vector<int64_t>& times, Options o, uint64_t* late = nullptr) {
  Reorder reorder(o.window_ns, o.least, o.limit);
  History out;
  const auto sink = [&](const Event& e) { out.push_back({e.time_ns, e.line}); };
  uint64_t line = 0;
  for (const int64_t t : times) reorder.push(Event{.time_ns = t, .line = ++line}, sink);
  reorder.flush(sink);
  if (late != nullptr) *late = reorder.late();
  return out;
}

// The same rules, on an unordered list searched from end to end.
class Twin {
 public:
  explicit Twin(Options o) : o_(o) {}
  void push(Seen s) {
    if (s.time_ns < left_) {
      ++late;
      out.push_back(s);
      return;
    }
    held_.push_back(s);
    newest_ = std::max(newest_, s.time_ns);
    while (held_.size() > o_.least && first()->time_ns <= newest_ - o_.window_ns) pop();
    while (held_.size() > o_.limit) pop();
  }
  void flush() {
    while (!held_.empty()) pop();
  }
  History out;
  uint64_t late = 0;

 private:
  std::vector<Seen>::iterator first() {
    auto best = held_.begin();
    for (auto i = held_.begin(); i != held_.end(); ++i) {
      if (i->time_ns < best->time_ns || (i->time_ns == best->time_ns && i->line < best->line)) {
        best = i;
      }
    }
    return best;
  }
  void pop() {
    const auto i = first();
    left_ = i->time_ns;
    out.push_back(*i);
    held_.erase(i);
  }
  Options o_;
  std::vector<Seen> held_;
  int64_t left_ = INT64_MIN, newest_ = INT64_MIN;
};

TEST(ReorderTest, SortsWithinTheWindow) {
  EXPECT_EQ(run({10, 30, 20, 40}, {.window_ns = 20}),
            (History{{10, 1}, {20, 3}, {30, 2}, {40, 4}}));
}

TEST(ReorderTest, EqualTimesKeepTheOrderOfTheFile) {
  EXPECT_EQ(run({30, 20, 30, 20, 20}, {.window_ns = 100}),
            (History{{20, 2}, {20, 4}, {20, 5}, {30, 1}, {30, 3}}));
}

TEST(ReorderTest, LaterThanTheWindowStandsWhereItIs) {
  uint64_t late = 0;
  EXPECT_EQ(run({10, 200, 300, 20, 301}, {.window_ns = 100}, &late),
            (History{{10, 1}, {200, 2}, {20, 4}, {300, 3}, {301, 5}}));
  EXPECT_EQ(late, 1u);
}

TEST(ReorderTest, AWildTimeDoesNotSpoilTheRest) {
  uint64_t late = 0;
  EXPECT_EQ(run({10, 1'000'000, 20, 30}, {.window_ns = 100}, &late),
            (History{{10, 1}, {20, 3}, {30, 4}, {1'000'000, 2}}));
  EXPECT_EQ(late, 0u);
}

TEST(ReorderTest, AtLeastAndAtMost) {
  EXPECT_EQ(run({50, 90, 10}, {.window_ns = 0, .least = 3}), (History{{10, 3}, {50, 1}, {90, 2}}));
  EXPECT_EQ(run({50, 90, 10}, {.window_ns = 1000, .limit = 1}),
            (History{{50, 1}, {10, 3}, {90, 2}}));
  EXPECT_EQ(run({5, 4}, {.window_ns = 1000, .limit = 0}), (History{{5, 1}, {4, 2}}));
}

TEST(ReorderTest, BehavesAsItsTwin) {
  const Rng rng(1);
  for (uint64_t round = 0; round < 300; ++round) {
    RandomStream r = rng.stream("reorder", round);
    const Options o{.window_ns = r.between(0, 60),
                    .least = static_cast<size_t>(r.below(20)),
                    .limit = static_cast<size_t>(r.below(60))};
    std::vector<int64_t> times;
    int64_t now = 0;
    for (int i = 0; i < 4000; ++i) {
      now += static_cast<int64_t>(r.below(4));
      times.push_back(now - (r.below(5) == 0 ? r.between(0, 80) : 0));
    }
    Twin twin({o.window_ns, std::min(o.least, o.limit), o.limit});
    uint64_t line = 0, late = 0;
    for (const int64_t t : times) twin.push({t, ++line});
    twin.flush();
    ASSERT_EQ(run(times, o, &late), twin.out) << "round " << round;
    ASSERT_EQ(late, twin.late);
  }
}

}  // namespace
}  // namespace runqlab::trace
