// engine/event_queue.h — the pending events of one run: one slot per (owner, kind), at most one
// pending event per slot, served in the total order (time, phase, slot). Nothing else decides an
// order: no insertion counter, address or hash, so that switching a mechanism on cannot renumber
// unrelated ties.
//
// A 4-ary heap of packed 8-byte keys with an index from slot to heap position. Arming a pending
// slot moves it. The pop is deferred: the served event stays at the root as a hole until the next
// arm() fills it (the usual case: a handler re-arms what it served) or the next pop() closes it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/types.h"

namespace runqlab {

using SlotId = Id<struct SlotTag, uint32_t>;

// Which of several events of the same instant comes first, and why.
enum class Phase : uint8_t {
  work = 0,     // what ends at t has ended before anything else at t looks at the CPU
  ipi = 1,      // an interrupt that was under way lands before a timer fires
  timer = 2,    // wakeups by timers, in slot (that is, task) order
  arrival = 3,  // the outside world of a replay, after the timers of the machine itself
  tick = 4,     // after the wakeups of the instant (FAIR.md section V)
  control = 7,  // end of run: sees everything of its instant done
};

class EventQueue {
 public:
  static constexpr int kSlotBits = 18;
  static constexpr int kPhaseBits = 3;
  static constexpr uint32_t kMaxSlots = 1U << kSlotBits;  // 262 144
  // Latest time that fits into a key: about 8 796 s.
  static constexpr SimTime kMaxTime =
      SimTime::from_ns((int64_t{1} << (64 - kSlotBits - kPhaseBits)) - 1);

  struct Event {
    SimTime time;
    SlotId slot;
  };

  explicit EventQueue(size_t slots = 0) { grow(slots); }

  // Makes slots [0, slots) usable; never shrinks.
  void grow(size_t slots) {
    RQL_CHECK(slots <= kMaxSlots);
    if (slots > pos_.size()) pos_.resize(slots, kAbsent);
  }
  [[nodiscard]] size_t slots() const { return pos_.size(); }

  // Puts the slot's event at (t, phase); moves it if it is pending. A time beyond kMaxTime is as
  // good as never: the event is clamped to kMaxTime.
  void arm(SlotId slot, SimTime t, Phase phase) {
    const Key key = pack(t < kMaxTime ? t : kMaxTime, phase, slot);
    uint32_t& pos = pos_[slot.index()];
    if (pos != kAbsent) {
      const Key old = heap_[pos];
      if (key < old) {
        sift_up(pos, key);
      } else {
        sift_down(pos, key);
      }
    } else if (hole_) {
      hole_ = false;
      sift_down(0, key);
    } else {
      heap_.push_back(key);
      sift_up(static_cast<uint32_t>(heap_.size() - 1), key);
    }
  }

  // Removes the slot's event; nothing happens when none is pending.
  void disarm(SlotId slot) {
    const uint32_t pos = pos_[slot.index()];
    if (pos == kAbsent) return;
    pos_[slot.index()] = kAbsent;
    remove_at(pos);
  }

  [[nodiscard]] bool armed(SlotId slot) const { return pos_[slot.index()] != kAbsent; }

  // When the slot's pending event fires; SimTime::max() when none is pending.
  [[nodiscard]] SimTime time_of(SlotId slot) const {
    const uint32_t pos = pos_[slot.index()];
    return pos == kAbsent ? SimTime::max() : unpack(heap_[pos]).time;
  }

  [[nodiscard]] size_t size() const { return heap_.size() - (hole_ ? 1 : 0); }
  [[nodiscard]] bool empty() const { return size() == 0; }

  // Removes and returns the first event. The queue must not be empty.
  Event pop() {
    close_hole();
    RQL_AUDIT(!heap_.empty());
    const Event e = unpack(heap_[0]);
    pos_[e.slot.index()] = kAbsent;
    hole_ = true;
    return e;
  }

 private:
  using Key = uint64_t;
  static constexpr uint32_t kAbsent = ~uint32_t{0};

  static Key pack(SimTime t, Phase phase, SlotId slot) {
    RQL_AUDIT(t.ns() >= 0);
    return (static_cast<uint64_t>(t.ns()) << (kSlotBits + kPhaseBits)) |
           (static_cast<uint64_t>(phase) << kSlotBits) | slot.value();
  }
  static Event unpack(Key k) {
    return {SimTime::from_ns(static_cast<int64_t>(k >> (kSlotBits + kPhaseBits))),
            SlotId(static_cast<uint32_t>(k & (kMaxSlots - 1)))};
  }
  static uint32_t slot_of(Key k) { return static_cast<uint32_t>(k & (kMaxSlots - 1)); }

  void place(uint32_t pos, Key key) {
    heap_[pos] = key;
    pos_[slot_of(key)] = pos;
  }

  // A hole at the root keeps the key of the event served last. It is not above any pending key,
  // so sifting never moves past it.
  void sift_up(uint32_t pos, Key key) {
    while (pos != 0) {
      const uint32_t parent = (pos - 1) / 4;
      const Key p = heap_[parent];
      if (p <= key || (parent == 0 && hole_)) break;
      place(pos, p);
      pos = parent;
    }
    place(pos, key);
  }

  void sift_down(uint32_t pos, Key key) {
    const auto n = static_cast<uint32_t>(heap_.size());
    for (;;) {
      const uint32_t first = 4 * pos + 1;
      if (first >= n) break;
      uint32_t best = first;
      Key best_key = heap_[first];
      const uint32_t end = first + 4 < n ? first + 4 : n;
      for (uint32_t c = first + 1; c < end; ++c) {
        if (heap_[c] < best_key) {
          best = c;
          best_key = heap_[c];
        }
      }
      if (key <= best_key) break;
      place(pos, best_key);
      pos = best;
    }
    place(pos, key);
  }

  void remove_at(uint32_t pos) {
    const Key last = heap_.back();
    heap_.pop_back();
    if (pos == heap_.size()) return;
    const uint32_t parent = (pos - 1) / 4;  // meaningless for the root
    if (pos != 0 && !(parent == 0 && hole_) && last < heap_[parent]) {
      sift_up(pos, last);
    } else {
      sift_down(pos, last);
    }
  }

  void close_hole() {
    if (!hole_) return;
    hole_ = false;
    remove_at(0);
  }

  std::vector<Key> heap_;
  std::vector<uint32_t> pos_;  // slot -> position in heap_, or kAbsent
  bool hole_ = false;          // heap_[0] is the event that pop() returned last
};

}  // namespace runqlab
