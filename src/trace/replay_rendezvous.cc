// Answers that a recording does not show. A task that wakes another and waits for its answer blocks
// in between, unless the wakee preempts it at once: then the answer is there before the waker
// looks, and neither its block nor the answering wakeup happens. A re-run in which the wakee does
// not preempt would let the waker run ahead for ever. So the block and the answer are put into the
// programs where they were hidden, for a pair that is seen to wait for the answer wherever it was
// not preempted, and where the wakee is seen to send over loopback while nobody sleeps.
#include <algorithm>

#include "trace/replay_builder.h"

namespace runqlab::trace {
namespace {

// The wait follows the wakeup within this much CPU time.
constexpr int64_t kSoonNs = 50'000;
// Evidence for a pair: seen at least so often, and in at least 4 of 5 cases.
constexpr uint64_t kLeastSeen = 3;

int64_t median(std::vector<int64_t>& v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

}  // namespace

void ReplayBuilder::note_wake(TaskTrack& w, uint32_t wakee, size_t op) {
  if (w.has_last_wake && !w.preempted_by_wakee) ++channels_[{w.id.value(), w.last_wakee}].other;
  w.has_last_wake = true;
  w.preempted_by_wakee = false;
  w.last_wakee = wakee;
  w.last_wake_op = op;
  w.work_since_wake_ns = 0;
  ++w.wakes;
}

void ReplayBuilder::note_block(TaskTrack& t) {
  if (t.open_rendezvous != ~size_t{0}) {
    rendezvous_[t.open_rendezvous].wakee_block_op = t.ops.size();
    t.open_rendezvous = ~size_t{0};
  }
  if (!t.has_last_wake) return;
  t.has_last_wake = false;
  if (t.work_since_wake_ns <= kSoonNs) ++t.promises_kept;
  if (t.preempted_by_wakee) return;
  if (t.work_since_wake_ns <= kSoonNs) {
    t.awaits_answer = t.last_wakee;
  } else {
    ++channels_[{t.id.value(), t.last_wakee}].other;
  }
}

void ReplayBuilder::note_woken(TaskTrack& t, uint32_t by) {
  if (t.awaits_answer >= kIdle) return;
  Channel& c = channels_[{t.id.value(), t.awaits_answer}];
  if (by == t.awaits_answer) {
    ++c.answered;
    c.work_until_block.push_back(t.work_since_wake_ns);
  } else {
    ++c.other;
  }
  t.awaits_answer = kUnknown;
}

void ReplayBuilder::note_preempted(uint32_t prev, uint32_t next) {
  TaskTrack& t = tracks_[prev];
  // A wakee that is preempted itself gives no clear answer.
  if (t.open_rendezvous != ~size_t{0}) t.open_rendezvous = ~size_t{0};
  if (!t.has_last_wake || t.preempted_by_wakee || t.last_wakee != next) return;
  t.preempted_by_wakee = true;
  tracks_[next].open_rendezvous = rendezvous_.size();
  rendezvous_.push_back({prev, next, t.last_wake_op});
}

void ReplayBuilder::note_silent_send(TaskTrack& t, int64_t now) {
  if (t.open_rendezvous == ~size_t{0}) return;
  Rendezvous& r = rendezvous_[t.open_rendezvous];
  t.advance(now);
  r.answer_op = t.ops.size();
  t.ops.push_back({.op = op::bare(op::wake(tracks_[r.waker].id, false, WakeContext::softirq)),
                   .dropped = true});
}

void ReplayBuilder::insert_rendezvous() {
  std::map<std::pair<uint32_t, uint32_t>, int64_t> delay;  // of pairs with enough evidence
  for (auto& [pair, c] : channels_) {
    if (c.answered >= kLeastSeen && c.answered >= 4 * c.other) {
      delay[pair] = median(c.work_until_block);
    }
  }
  for (const Rendezvous& r : rendezvous_) {
    const auto waits = delay.find({r.waker, r.wakee});
    const bool answered = r.answer_op != 0;
    if ((waits == delay.end() && !answered) || r.wakee_block_op == 0) continue;
    TaskTrack& waker = tracks_[r.waker];
    TaskTrack& wakee = tracks_[r.wakee];
    if (waker.ops[r.wake_op].dropped) continue;
    if (answered) {
      wakee.ops[r.answer_op].dropped = false;
    } else {
      if (wakee.ops[r.wakee_block_op - 1].op.kind != OpKind::run) continue;
      // The wakee's own habit tells how long before its block it answers.
      const auto answers = delay.find({r.wakee, r.waker});
      const int64_t before = answers == delay.end() ? 0 : answers->second;
      wakee.insertions.push_back(
          {r.wakee_block_op - 1, -before - 1, op::bare(op::wake(waker.id, false))});
    }
    waker.insertions.push_back(
        {r.wake_op + 1, waits == delay.end() ? 0 : waits->second, op::bare(op::block())});
    ++counts_.rendezvous;
  }
}

}  // namespace runqlab::trace
