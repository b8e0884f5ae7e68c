// Slices of tensors, and the tensors that the replicas' slices make together: for checkpoints,
// which know nothing of strategies.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "parallel/data_parallel/replica_strategy.h"
#include "parallel/data_parallel/shard_plan.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// A whole parameter, and what of it each replica holds.
struct ShardSpec {
  Shape shape;
  std::vector<ElementRange> ranges;
};
using ShardSpecs = std::map<std::string, ShardSpec>;

// `whole` itself where the range has all of it; else a view of shape (k, 1, ...), of the same rank.
// `whole` is contiguous.
Tensor SliceOf(const Tensor& whole, const ElementRange& range);

// As ReplicaStrategy::Whole.
std::vector<NamedTensor> GatherShards(Transport& replicas, const std::vector<NamedTensor>& own,
                                      const ShardSpecs& specs,
                                      const std::vector<std::string>& parameters,
                                      const std::string& what);

// As ReplicaStrategy::OwnPart, for `replica`. Tensors of another shape than their parameter's, the
// scalars, stay as they are; those of other stages are left out.
std::vector<NamedTensor> TakeShards(const std::vector<NamedTensor>& whole, const ShardSpecs& specs,
                                    int replica);

}  // namespace torus::parallel
