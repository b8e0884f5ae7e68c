// Slices tensors for replicas and joins the replicas' slices, for checkpoints, which do not depend
// on the strategy.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "parallel/data_parallel/replica_strategy.h"
#include "parallel/data_parallel/shard_plan.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// The shape of a whole parameter, and the range that each replica holds.
struct ShardSpec {
  Shape shape;
  std::vector<ElementRange> ranges;
};
using ShardSpecs = std::map<std::string, ShardSpec>;

// Returns `whole` itself if the range covers it, else a view of shape (k, 1, ...) with as many
// dimensions. `whole` must be contiguous.
Tensor SliceOf(const Tensor& whole, const ElementRange& range);

// As ReplicaStrategy::Whole.
std::vector<NamedTensor> GatherShards(Communicator& replicas, const std::vector<NamedTensor>& own,
                                      const ShardSpecs& specs,
                                      const std::vector<std::string>& parameters,
                                      const std::string& what);

// As ReplicaStrategy::OwnPart, for `replica`. Scalars (tensors not of their parameter's shape) stay
// as they are; tensors of other stages are left out.
std::vector<NamedTensor> TakeShards(const std::vector<NamedTensor>& whole, const ShardSpecs& specs,
                                    int replica);

}  // namespace torus::parallel
