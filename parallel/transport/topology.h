// Topology: which ranks of a world move GPU memory between them.
#pragma once

#include <utility>
#include <vector>

namespace torus::parallel {

struct Topology {
  std::vector<std::pair<int, int>> pairs;  // that send to each other, in either direction
  std::vector<std::vector<int>> groups;    // that sum together (Transport::EngineOf)
};

// Every pair, and one group of all.
inline Topology AllConnected(int ranks) {
  Topology all;
  all.groups.emplace_back();
  for (int rank = 0; rank < ranks; ++rank) {
    for (int before = 0; before < rank; ++before) all.pairs.emplace_back(before, rank);
    all.groups.front().push_back(rank);
  }
  return all;
}

}  // namespace torus::parallel
