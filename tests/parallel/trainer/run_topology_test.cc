// How many communicators of NCCL a run makes on each GPU.
#include "parallel/trainer/run_topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "parallel/schedule/factory.h"

namespace torus::parallel {
namespace {

struct Layout {
  std::string schedule;
  int ranks, chunks, replicas, tensor;
};

Topology TopologyOf(const Layout& run, bool shares_cuts, bool engine,
                    const std::vector<SkipConnection>& skips = {},
                    const std::vector<std::vector<int>>& tied = {}) {
  const Schedule schedule = MakeSchedule(run.schedule, {run.ranks, 4, run.chunks});
  return parallel::TopologyOf(schedule, WorldLayout(schedule, run.replicas, run.tensor), skips,
                              tied, shares_cuts, engine);
}

int CommunicatorsOf(int rank, const Topology& topology) {
  std::set<std::set<int>> pairs;
  for (const auto& [a, b] : topology.pairs)
    if (a == rank || b == rank) pairs.insert({a, b});
  const auto has = [&](const std::vector<int>& group) {
    return std::ranges::count(group, rank) == 1;
  };
  return static_cast<int>(pairs.size() + std::ranges::count_if(topology.groups, has));
}

// A rank's neighbours: in a line, there and back in a V, or in a ring if stages go round it.
int NeighboursOf(const Layout& run, int place) {
  if (run.ranks <= 2) return run.ranks - 1;
  const bool at_end = place == 0 || place + 1 == run.ranks;
  return (run.chunks == 1 || run.schedule == "zb-v") && at_end ? 1 : 2;
}

TEST(RunTopology, HasACommunicatorForEachNeighbourAndGroupHoweverManyRanksThereAre) {
  for (const Layout& run :
       {Layout{"1f1b", 1, 1, 1, 1}, Layout{"1f1b", 2, 1, 1, 1}, Layout{"gpipe", 4, 1, 1, 1},
        Layout{"1f1b", 8, 1, 128, 1}, Layout{"interleaved", 4, 2, 2, 1}, Layout{"zb-v", 4, 2, 2, 1},
        Layout{"1f1b", 4, 1, 3, 2}, Layout{"gpipe", 1, 1, 1, 8}})
    for (const bool shares : {true, false})
      for (const bool engine : {true, false}) {
        const Topology topology = TopologyOf(run, shares, engine);
        for (int rank = 0; rank < run.ranks * run.replicas * run.tensor; ++rank) {
          const int place = rank / run.tensor % run.ranks;
          const int handed_on = shares && run.ranks > 1 ? run.tensor - 1 : 0;
          const int groups = engine ? (run.tensor > 1) + (run.replicas > 1) : 0;
          EXPECT_EQ(CommunicatorsOf(rank, topology), NeighboursOf(run, place) + handed_on + groups)
              << run.schedule << " of " << run.ranks << ", rank " << rank;
        }
      }
}

TEST(RunTopology, ConnectsTheEndsOfSkips) {
  const Layout run{"1f1b", 4, 1, 2, 1};
  const Topology topology = TopologyOf(run, true, false, {{"skip", 0, 3}, {"within", 1, 2}});
  for (const int first : {0, 4}) {
    EXPECT_EQ(CommunicatorsOf(first, topology), 2);
    EXPECT_EQ(CommunicatorsOf(first + 1, topology), 2);
    EXPECT_EQ(CommunicatorsOf(first + 3, topology), 2);
  }
}

// An embedding and its head in the first and last of four stages, with one use between.
TEST(RunTopology, ConnectsTheRanksOfTiedWeights) {
  const Layout run{"1f1b", 4, 1, 2, 1};
  const Topology two = TopologyOf(run, true, false, {}, {{0, 3}});
  const Topology three = TopologyOf(run, true, false, {}, {{0, 0, 2, 3}});
  for (const int first : {0, 4}) {
    EXPECT_EQ(CommunicatorsOf(first, two), 2);
    EXPECT_EQ(CommunicatorsOf(first + 1, two), 2);
    EXPECT_EQ(CommunicatorsOf(first + 3, two), 2);
    EXPECT_EQ(CommunicatorsOf(first, three), 3);
    EXPECT_EQ(CommunicatorsOf(first + 2, three), 3);
  }
}

}  // namespace
}  // namespace torus::parallel
