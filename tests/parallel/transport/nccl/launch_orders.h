// Whether GPUs launch operations in one order.
#pragma once

#include <map>
#include <set>
#include <vector>

namespace torus::parallel {

// Whether no single order of all operations has each of these as a part: then GPUs that launch them
// in these orders may wait for each other in a circle.
inline bool Contradict(const std::vector<std::vector<int>>& orders) {
  std::map<int, std::set<int>> behind;
  std::map<int, int> before;  // how many operations come directly before
  for (const std::vector<int>& order : orders)
    for (size_t i = 0; i < order.size(); ++i) {
      before.try_emplace(order[i]);
      if (i > 0 && behind[order[i - 1]].insert(order[i]).second) ++before[order[i]];
    }
  std::vector<int> free;
  for (const auto& [operation, count] : before)
    if (count == 0) free.push_back(operation);
  size_t ordered = 0;
  for (; !free.empty(); ++ordered) {
    const int next = free.back();
    free.pop_back();
    for (const int later : behind[next])
      if (--before[later] == 0) free.push_back(later);
  }
  return ordered < before.size();
}

}  // namespace torus::parallel
