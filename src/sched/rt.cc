#include "sched/rt.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace runqlab::sched {

void RtClass::enqueue(Rq& rq, Task& p, bool at_head) {
  const size_t i = index_of(p);
  auto& list = rq.rt.queue[i];
  list.insert(at_head ? list.begin() : list.end(), p.id);
  rq.rt.nonempty[i / 64] |= uint64_t{1} << (i % 64);
  ++rq.rt.nr_running;
  ++rq.nr_running;
  p.on_rq = true;
}

void RtClass::dequeue(Rq& rq, Task& p) {
  const size_t i = index_of(p);
  auto& list = rq.rt.queue[i];
  const auto it = std::find(list.begin(), list.end(), p.id);
  RQL_CHECK(it != list.end());
  list.erase(it);
  if (list.empty()) rq.rt.nonempty[i / 64] &= ~(uint64_t{1} << (i % 64));
  --rq.rt.nr_running;
  --rq.nr_running;
  p.on_rq = false;
}

TaskId RtClass::pick(const Rq& rq) const {
  for (size_t w = 0; w < rq.rt.nonempty.size(); ++w) {
    if (rq.rt.nonempty[w] == 0) continue;
    const auto bit = static_cast<size_t>(std::countr_zero(rq.rt.nonempty[w]));
    return rq.rt.queue[w * 64 + bit].front();
  }
  return TaskId::none();
}

void RtClass::yield(Rq& rq, Task& p) {
  auto& list = rq.rt.queue[index_of(p)];
  const auto it = std::find(list.begin(), list.end(), p.id);
  std::rotate(it, it + 1, list.end());
}

bool RtClass::tick(Rq& rq, Task& p) const {
  if (p.policy != Policy::rr || ++p.rr_ticks < slice_ticks_) return false;
  p.rr_ticks = 0;
  if (rq.rt.queue[index_of(p)].size() == 1) return false;
  yield(rq, p);
  return true;
}

}  // namespace runqlab::sched
