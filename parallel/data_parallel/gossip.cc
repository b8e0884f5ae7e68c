#include "parallel/data_parallel/gossip.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "parallel/collectives/pieces.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/rng.h"

namespace torus::parallel {
namespace {

Tag TagOfLane(int lane) {
  constexpr int32_t kFirst = 1 << 21;  // after those of all-gathers (rows.cc)
  return {TagClass::kCollective, kFirst + lane};
}

GossipNeighbours Ring(int replica, int replicas) {
  std::vector<int> sides{(replica + replicas - 1) % replicas, (replica + 1) % replicas};
  std::ranges::sort(sides);
  if (replicas == 2) sides.pop_back();
  return {sides, sides};
}

GossipNeighbours Exponential(int replica, int replicas, int64_t step) {
  const int hops = std::bit_width(static_cast<unsigned>(replicas - 1));
  const int hop = 1 << (step % hops);
  return {{(replica + hop) % replicas}, {(replica + replicas - hop) % replicas}};
}

// A random order of all replicas (Fisher and Yates), cut into pairs.
GossipNeighbours Random(int replica, int replicas, uint64_t seed, int64_t step) {
  const RandomStream stream(
      {.seed = seed, .step = static_cast<uint64_t>(step), .layer = HashName("gossip")});
  std::vector<int> order(static_cast<size_t>(replicas));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[stream.Below(i, i + 1)]);
  const size_t place = std::ranges::find(order, replica) - order.begin(), partner = place ^ 1;
  if (partner >= order.size()) return {};
  return {{order[partner]}, {order[partner]}};
}

// Of terms by replica.
Tensor MeanOf(const std::map<int, Tensor>& terms) {
  Tensor mean = terms.begin()->second.Clone();
  for (auto at = std::next(terms.begin()); at != terms.end(); ++at) AddInPlace(mean, at->second);
  ScaleInPlace(mean, 1.0 / static_cast<double>(terms.size()));
  return mean;
}

}  // namespace

GossipNeighbours NeighboursOf(GossipGraph graph, int replica, int replicas, uint64_t seed,
                              int64_t step) {
  TORUS_CHECK(replicas >= 2);
  switch (graph) {
    case GossipGraph::kRing:
      return Ring(replica, replicas);
    case GossipGraph::kExponential:
      return Exponential(replica, replicas, step);
    case GossipGraph::kRandom:
      return Random(replica, replicas, seed, step);
  }
  TORUS_CHECK(false);
}

void Gossip::BeginStep(int64_t step, double) { step_ = step; }

void Gossip::Synchronize(const std::string& what) {
  const GossipNeighbours neighbours =
      NeighboursOf(graph_, replicas().rank(), replicas().size(), seed_, step_);
  std::vector<std::map<int, Tensor>> terms;  // of each parameter
  std::vector<Pending> received, sent;
  for (const NamedVariable& parameter : parameters()) {
    std::map<int, Tensor>& of_all = terms.emplace_back();
    const Tensor own = of_all[replicas().rank()] = parameter.value.data().To(Device{}).Contiguous();
    const std::string name = fmt::format("gossip of {}, {}", parameter.name, what);
    for (const int from : neighbours.from) {
      Tensor& theirs = of_all[from] = Empty(own.shape(), own.dtype());
      received.push_back(replicas().transport().Recv(from, TagOfLane(lane_),
                                                     {theirs.mutable_raw(), theirs.bytes()}, name));
    }
    for (const int to : neighbours.to)
      sent.push_back(
          replicas().transport().Send(to, TagOfLane(lane_), {own.raw(), own.bytes()}, name));
  }
  WaitForAll(received);
  WaitForAll(sent);
  std::vector<Tensor> mixed;
  for (const std::map<int, Tensor>& of_all : terms) mixed.push_back(MeanOf(of_all));
  ReplaceWeights(mixed);
}

}  // namespace torus::parallel
