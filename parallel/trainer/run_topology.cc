#include "parallel/trainer/run_topology.h"

#include <set>
#include <utility>

namespace torus::parallel {
namespace {

using Pairs = std::set<std::pair<int, int>>;

// Ranks of a pipeline that send to each other.
Pairs NeighboursIn(const Schedule& schedule, const std::vector<SkipConnection>& skips,
                   const std::vector<std::vector<int>>& tied) {
  Pairs pairs;
  for (int rank = 0; rank < schedule.num_ranks; ++rank)
    for (const Action& action : schedule.ranks[rank])
      if (IsSend(action.kind)) pairs.insert(std::minmax(rank, action.peer));
  const std::vector<int> owners = StageOwners(schedule);
  for (const SkipConnection& skip : skips)
    if (owners[skip.from] != owners[skip.to])
      pairs.insert(std::minmax(owners[skip.from], owners[skip.to]));
  for (const std::vector<int>& stages : tied)
    for (const int a : stages)
      for (const int b : stages)
        if (owners[a] < owners[b]) pairs.insert({owners[a], owners[b]});
  return pairs;
}

void AddPairs(const Pairs& pairs, const std::vector<int>& ranks, Topology& topology) {
  for (const auto& [a, b] : pairs) topology.pairs.emplace_back(ranks[a], ranks[b]);
}

Pairs AllPairs(int count) {
  Pairs pairs;
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b) pairs.insert({a, b});
  return pairs;
}

}  // namespace

Topology TopologyOf(const Schedule& schedule, const WorldLayout& layout,
                    const std::vector<SkipConnection>& skips,
                    const std::vector<std::vector<int>>& tied, bool shares_cuts, bool engine) {
  const Pairs neighbours = NeighboursIn(schedule, skips, tied);
  std::set<std::vector<int>> groups;
  Topology topology;
  for (const RankPlace& place : layout.places()) {
    const int replica = place.replica, t = place.tensor.rank, p = place.pipeline_rank;
    const std::vector<int> together = layout.TensorRanksOf(replica, p);
    if (p == 0) AddPairs(neighbours, layout.PipelineOf(replica, t), topology);
    if (t == 0 && shares_cuts && !neighbours.empty())
      AddPairs(AllPairs(place.tensor.size), together, topology);
    for (const auto& group : {together, layout.ReplicasOf(p, t)})
      if (engine && group.size() > 1) groups.insert(group);
  }
  topology.groups.assign(groups.begin(), groups.end());
  return topology;
}

}  // namespace torus::parallel
