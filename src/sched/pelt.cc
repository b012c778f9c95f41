#include "sched/pelt.h"

#include <algorithm>
#include <array>

namespace runqlab::sched::pelt {
namespace {

// 2^32 * y^n.
constexpr std::array<uint32_t, 32> kDecay = {
    0xffffffff, 0xfa83b2da, 0xf5257d14, 0xefe4b99a, 0xeac0c6e6, 0xe5b906e6, 0xe0ccdeeb, 0xdbfbb796,
    0xd744fcc9, 0xd2a81d91, 0xce248c14, 0xc9b9bd85, 0xc5672a10, 0xc12c4cc9, 0xbd08a39e, 0xb8fbaf46,
    0xb504f333, 0xb123f581, 0xad583ee9, 0xa9a15ab4, 0xa5fed6a9, 0xa2704302, 0x9ef5325f, 0x9b8d39b9,
    0x9837f050, 0x94f4efa8, 0x91c3d373, 0x8ea4398a, 0x8b95c1e3, 0x88980e80, 0x85aac367, 0x82cd8698};
constexpr uint64_t kHalfLife = 32;
constexpr uint64_t kGone = kHalfLife * 63;  // decayed to nothing

void recompute(PeltAvg& a, uint64_t scale) {
  const uint32_t d = divider(a);
  a.load_avg = scale * a.load_sum / d;
  a.runnable_avg = a.runnable_sum / d;
  a.util_avg = a.util_sum / d;
}

template <class T>
void sub(T& from, uint64_t v) {
  from = from > v ? static_cast<T>(from - v) : 0;
}

// A queue's sums may not fall below what its averages stand for, or the next update would lose it.
void raise_sums(PeltAvg& q) {
  constexpr uint64_t kMinDivider = kMaxSum - kPeriod;
  q.load_sum = std::max(q.load_sum, q.load_avg * kMinDivider);
  q.util_sum = static_cast<uint32_t>(std::max<uint64_t>(q.util_sum, q.util_avg * kMinDivider));
  q.runnable_sum = std::max(q.runnable_sum, q.runnable_avg * kMinDivider);
}

}  // namespace

uint64_t decay(uint64_t value, uint64_t n) {
  if (n > kGone) return 0;
  if (n >= kHalfLife) {
    value >>= n / kHalfLife;
    n %= kHalfLife;
  }
  return static_cast<uint64_t>((static_cast<unsigned __int128>(value) * kDecay[n]) >> 32);
}

uint32_t segments(uint64_t p, uint32_t d1, uint32_t d3) {
  const auto c1 = static_cast<uint32_t>(decay(d1, p));
  const auto c2 = static_cast<uint32_t>(kMaxSum - decay(kMaxSum, p) - kPeriod);
  return c1 + c2 + d3;
}

bool advance(PeltAvg& a, int64_t now_ns, uint64_t load, uint64_t runnable, bool running) {
  const int64_t signed_delta = now_ns - a.last_update_ns;
  if (signed_delta < 0) {
    a.last_update_ns = now_ns;
    return false;
  }
  uint64_t delta = static_cast<uint64_t>(signed_delta) >> 10;
  if (delta == 0) return false;
  a.last_update_ns += static_cast<int64_t>(delta << 10);
  if (load == 0) {
    runnable = 0;
    running = false;
  }
  auto contrib = static_cast<uint32_t>(delta);
  delta += a.period_contrib;
  const uint64_t periods = delta / kPeriod;
  if (periods != 0) {
    a.load_sum = decay(a.load_sum, periods);
    a.runnable_sum = decay(a.runnable_sum, periods);
    a.util_sum = static_cast<uint32_t>(decay(a.util_sum, periods));
    delta %= kPeriod;
    if (load != 0) {
      contrib = segments(periods, kPeriod - a.period_contrib, static_cast<uint32_t>(delta));
    }
  }
  a.period_contrib = static_cast<uint32_t>(delta);
  if (load != 0) a.load_sum += load * contrib;
  if (runnable != 0) a.runnable_sum += (runnable * contrib) << 10;
  if (running) a.util_sum += contrib << 10;
  return periods != 0;
}

bool update_entity(PeltAvg& a, int64_t now_ns, uint64_t weight, bool queued, uint64_t runnable,
                   bool running) {
  if (!advance(a, now_ns, queued ? 1 : 0, runnable, running)) return false;
  recompute(a, weight);
  return true;
}

bool update_queue(PeltAvg& a, int64_t now_ns, uint64_t weight, uint64_t runnable, bool running) {
  if (!advance(a, now_ns, weight, runnable, running)) return false;
  recompute(a, 1);
  return true;
}

bool update_blocked(PeltAvg& a, int64_t now_ns, uint64_t weight) {
  return update_entity(a, now_ns, weight, false, 0, false);
}

void attach(PeltAvg& queue, PeltAvg& entity, uint64_t weight) {
  const uint64_t d = divider(queue);
  entity.last_update_ns = queue.last_update_ns;
  entity.period_contrib = queue.period_contrib;
  entity.util_sum = static_cast<uint32_t>(entity.util_avg * d);
  entity.runnable_sum = entity.runnable_avg * d;
  entity.load_sum = entity.load_avg * d;
  entity.load_sum = weight < entity.load_sum ? entity.load_sum / weight : 1;

  queue.load_avg += entity.load_avg;
  queue.load_sum += weight * entity.load_sum;
  queue.util_avg += entity.util_avg;
  queue.util_sum += entity.util_sum;
  queue.runnable_avg += entity.runnable_avg;
  queue.runnable_sum += entity.runnable_sum;
}

void detach(PeltAvg& queue, const PeltAvg& entity, uint64_t weight) {
  sub(queue.load_avg, entity.load_avg);
  sub(queue.load_sum, weight * entity.load_sum);
  sub(queue.util_avg, entity.util_avg);
  sub(queue.util_sum, entity.util_sum);
  sub(queue.runnable_avg, entity.runnable_avg);
  sub(queue.runnable_sum, entity.runnable_sum);
  raise_sums(queue);
}

void reweight(PeltAvg* queue, PeltAvg& entity, uint64_t old_weight, uint64_t new_weight) {
  if (queue != nullptr) {
    sub(queue->load_avg, entity.load_avg);
    sub(queue->load_sum, old_weight * entity.load_sum);
    raise_sums(*queue);
  }
  entity.load_avg = new_weight * entity.load_sum / divider(entity);
  if (queue != nullptr) {
    queue->load_avg += entity.load_avg;
    queue->load_sum += new_weight * entity.load_sum;
  }
}

void remove(PeltAvg& queue, uint64_t load_avg, uint64_t util_avg, uint64_t runnable_avg) {
  const uint32_t d = divider(queue);
  sub(queue.load_avg, load_avg);
  sub(queue.load_sum, load_avg * d);
  sub(queue.util_avg, util_avg);
  sub(queue.util_sum, util_avg * d);
  sub(queue.runnable_avg, runnable_avg);
  sub(queue.runnable_sum, runnable_avg * d);
  raise_sums(queue);
}

uint64_t util_est(uint64_t estimate, uint64_t util_avg, uint64_t runnable_avg) {
  constexpr uint64_t kMargin = 10;
  if (estimate <= util_avg) return util_avg;
  const uint64_t drop = estimate - util_avg;
  if (drop < kMargin || util_avg + kMargin < runnable_avg) return estimate;
  return (4 * estimate - drop) / 4;
}

UtilEstPair util_est_pair(UtilEstPair before, uint64_t util_avg, uint64_t capacity) {
  constexpr uint64_t kMargin = 10;
  if (before.ewma < util_avg) return {util_avg, util_avg};
  const uint64_t drop = before.ewma - util_avg;
  if (drop < kMargin) {
    const bool moved =
        std::max(before.enqueued, util_avg) - std::min(before.enqueued, util_avg) >= kMargin;
    return moved ? UtilEstPair{before.ewma, util_avg} : before;
  }
  if (util_avg > capacity) return before;
  return {(4 * before.ewma - drop) / 4, util_avg};
}

}  // namespace runqlab::sched::pelt
