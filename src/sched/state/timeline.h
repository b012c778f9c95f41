// sched/state/timeline.h — the queued entities of one fair queue in order of (key, insertion): for
// EEVDF the key is the deadline. A sorted flat array: queues are short, and picks look at the first
// few places only, so contiguous memory beats a tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace runqlab::sched {

struct Entity;

class Timeline {
 public:
  struct Node {
    int64_t key;
    int64_t vruntime;
    uint64_t seq;
    Entity* entity;
  };

  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] size_t size() const { return nodes_.size(); }
  [[nodiscard]] const Node& front() const { return nodes_.front(); }
  [[nodiscard]] auto begin() const { return nodes_.begin(); }
  [[nodiscard]] auto end() const { return nodes_.end(); }

  // seq must be larger than that of every node of the same key.
  void insert(int64_t key, int64_t vruntime, uint64_t seq, Entity* entity) {
    const auto it = std::upper_bound(nodes_.begin(), nodes_.end(), key,
                                     [](int64_t k, const Node& n) { return k < n.key; });
    nodes_.insert(it, Node{key, vruntime, seq, entity});
  }

  void erase(int64_t key, uint64_t seq) {
    const auto it = std::lower_bound(nodes_.begin(), nodes_.end(), std::pair(key, seq),
                                     [](const Node& n, const auto& k) {
                                       return n.key != k.first ? n.key < k.first : n.seq < k.second;
                                     });
    RQL_CHECK(it != nodes_.end() && it->seq == seq);
    nodes_.erase(it);
  }

  [[nodiscard]] int64_t min_vruntime() const {
    int64_t v = nodes_.front().vruntime;
    for (const Node& n : nodes_) v = std::min(v, n.vruntime);
    return v;
  }

 private:
  std::vector<Node> nodes_;
};

}  // namespace runqlab::sched
