// A bounded cache of plans by graph; evicts the least recently used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace torus::cuda {

// Everything that the choice of a plan depends on.
using PlanKey = std::vector<int64_t>;

// Not thread-safe.
template <class Plan>
class PlanCache {
 public:
  using Pointer = std::shared_ptr<const Plan>;

  explicit PlanCache(size_t most) : most_(most) {}

  // Returns what find() returned for this key, null included: the absence of a plan is cached too.
  // Caches nothing if find() throws.
  template <class Find>
  Pointer Get(const PlanKey& key, const Find& find) {
    const auto known = places_.find(key);
    if (known != places_.end()) {
      used_.splice(used_.begin(), used_, known->second);
      return known->second->second;
    }
    Pointer plan = find();
    if (places_.size() >= most_) {
      places_.erase(used_.back().first);
      used_.pop_back();
    }
    used_.emplace_front(key, plan);
    places_[key] = used_.begin();
    return plan;
  }

  size_t size() const { return places_.size(); }

 private:
  using Used = std::list<std::pair<PlanKey, Pointer>>;  // most recently used first

  size_t most_;  // at least 1
  Used used_;
  std::map<PlanKey, typename Used::iterator> places_;
};

}  // namespace torus::cuda
