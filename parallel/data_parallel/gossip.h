// Gossip: after each step every replica replaces its weights by the mean of its own and those of
// its neighbours in a graph; no replica hears from all. The step is taken before the mixing, as in
// Assran et al. 2019, "Stochastic gradient push for distributed deep learning", arXiv:1811.10792,
// algorithm 1.
//
// Of n replicas, replica i mixes with
// - ring: i - 1 and i + 1, a third each (Lian et al. 2017, "Can decentralized algorithms outperform
//   centralized algorithms?", arXiv:1705.09056); of two replicas, a half each.
// - exponential: i - 2^k, to which no answer is given; i sends to i + 2^k. A half each. k goes from
//   0 to floor(log2(n - 1)) and begins anew, one with each step (Assran et al.).
// - random: a partner, a half each. In each step all are paired anew by random numbers (Philox) of
//   seed and step; of an odd number one stays alone.
//
// In all three, what a replica gives adds up to 1 too (doubly stochastic mixing), so the mean of
// all replicas is kept but for rounding, and push-sum's weights, which would all be 1, are left
// out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parallel/data_parallel/exchange_text.h"
#include "parallel/data_parallel/weight_exchange.h"

namespace torus::parallel {

// Neighbours of a replica in one step, in ascending order.
struct GossipNeighbours {
  std::vector<int> to, from;  // to which it sends its weights; whose weights it mixes in
};
// `step` counts from 0 over the whole run.
GossipNeighbours NeighboursOf(GossipGraph graph, int replica, int replicas, uint64_t seed,
                              int64_t step);

class Gossip : public WeightExchange {
 public:
  Gossip(Communicator& replicas, std::vector<NamedVariable> uses, GossipGraph graph,
         const DataParallelOptions& options)
      : WeightExchange(replicas, std::move(uses), options),
        graph_(graph),
        seed_(options.seed),
        lane_(options.lane) {}

  bool is_apart() const override { return true; }
  void BeginStep(int64_t step, double scale) override;
  // Adds the weights in the order of replicas, and multiplies the sum by 1 / their number. Messages
  // go through CPU memory.
  void Synchronize(const std::string& what) override;

 private:
  const GossipGraph graph_;
  const uint64_t seed_;
  const int lane_;
  int64_t step_ = 0;
};

}  // namespace torus::parallel
