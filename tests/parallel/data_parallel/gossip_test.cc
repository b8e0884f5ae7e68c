// The graphs of gossip: who sends to whom, and that all mixing is doubly stochastic.
#include "parallel/data_parallel/gossip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace torus::parallel {
namespace {

constexpr uint64_t kSeed = 3;

bool Has(const std::vector<int>& list, int value) { return std::ranges::count(list, value) == 1; }

TEST(GossipGraphs, WhatAReplicaGivesIsWhatOthersTake) {
  for (const GossipGraph graph :
       {GossipGraph::kRing, GossipGraph::kExponential, GossipGraph::kRandom})
    for (int n = 2; n <= 9; ++n)
      for (int64_t step = 0; step < 8; ++step) {
        std::vector<double> given(n);  // by replica: the weights with which it is mixed in
        for (int i = 0; i < n; ++i) {
          const GossipNeighbours own = NeighboursOf(graph, i, n, kSeed, step);
          EXPECT_FALSE(Has(own.from, i));
          const double share = 1.0 / static_cast<double>(own.from.size() + 1);
          given[i] += share;
          for (const int j : own.from) {
            given[j] += share;
            EXPECT_TRUE(Has(NeighboursOf(graph, j, n, kSeed, step).to, i));
          }
          for (const int j : own.to)
            EXPECT_TRUE(Has(NeighboursOf(graph, j, n, kSeed, step).from, i));
        }
        for (const double sum : given) EXPECT_DOUBLE_EQ(sum, 1);
      }
}

TEST(GossipGraphs, AreThoseOfThePapers) {
  EXPECT_EQ(NeighboursOf(GossipGraph::kRing, 0, 5, kSeed, 7).from, (std::vector{1, 4}));
  EXPECT_EQ(NeighboursOf(GossipGraph::kRing, 1, 2, kSeed, 7).from, (std::vector{0}));
  // Of 8: 1, 2 and 4 hops; of 5 too, since floor(log2(4)) is 2.
  for (const int n : {5, 8})
    for (int64_t step = 0; step < 6; ++step)
      EXPECT_EQ(NeighboursOf(GossipGraph::kExponential, 0, n, kSeed, step).to,
                (std::vector{1 << (step % 3)}));
  EXPECT_EQ(NeighboursOf(GossipGraph::kExponential, 0, 4, kSeed, 2).to, (std::vector{1}));
}

TEST(GossipGraphs, RandomPairsChangeWithStepAndSeedAndLeaveOneOfAnOddNumberAlone) {
  std::set<int> partners, alone;
  int differ = 0;
  for (int64_t step = 0; step < 60; ++step) {
    const GossipNeighbours own = NeighboursOf(GossipGraph::kRandom, 0, 6, kSeed, step);
    ASSERT_EQ(own.from.size(), 1u);
    EXPECT_EQ(own.from, own.to);
    partners.insert(own.from[0]);
    differ += own.from != NeighboursOf(GossipGraph::kRandom, 0, 6, kSeed + 1, step).from ? 1 : 0;
    int single = 0;
    for (int i = 0; i < 5; ++i)
      if (NeighboursOf(GossipGraph::kRandom, i, 5, kSeed, step).from.empty()) {
        alone.insert(i);
        ++single;
      }
    EXPECT_EQ(single, 1);
  }
  EXPECT_EQ(partners, (std::set{1, 2, 3, 4, 5}));
  EXPECT_EQ(alone, (std::set{0, 1, 2, 3, 4}));
  EXPECT_GT(differ, 30);
}

}  // namespace
}  // namespace torus::parallel
