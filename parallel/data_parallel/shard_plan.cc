#include "parallel/data_parallel/shard_plan.h"

#include <algorithm>

#include "parallel/optim/gradient_norm.h"

namespace torus::parallel {
namespace {

using Ranges = std::vector<ElementRange>;

Ranges WholeOn(int replica, int64_t elements, int replicas) {
  Ranges ranges(replicas);
  ranges[replica] = {0, elements};
  return ranges;
}

// Blocks that do not divide evenly go to the replicas in turn, throughout the model. `first`: the
// replica whose turn is next.
Ranges RunsOfBlocks(int64_t elements, int replicas, int& first) {
  const int64_t blocks = (elements + kNormBlock - 1) / kNormBlock;
  const int64_t each = blocks / replicas, more = blocks % replicas;
  Ranges ranges(replicas);
  int64_t block = 0;
  for (int k = 0; k < replicas; ++k) {
    const int64_t begin = block;
    block += each + (k < more ? 1 : 0);
    ranges[(first + k) % replicas] = {std::min(elements, begin * kNormBlock),
                                      std::min(elements, block * kNormBlock)};
  }
  first = static_cast<int>((first + more) % replicas);
  return ranges;
}

}  // namespace

ShardPlan MakeShardPlan(ShardRule rule, const std::vector<ShardedParameter>& model, int replicas) {
  ShardPlan plan;
  std::map<int, std::vector<int64_t>> held;  // by stage and replica
  int first = 0;
  for (const auto& [name, elements, stage] : model) {
    if (rule == ShardRule::kBlocks) {
      plan[name] = RunsOfBlocks(elements, replicas, first);
      continue;
    }
    std::vector<int64_t>& of_stage = held[stage];
    of_stage.resize(replicas);
    const auto least = std::ranges::min_element(of_stage);
    const bool on_first = rule == ShardRule::kFirst;
    const int replica = on_first ? 0 : static_cast<int>(least - of_stage.begin());
    of_stage[replica] += elements;
    plan[name] = WholeOn(replica, elements, replicas);
  }
  return plan;
}

}  // namespace torus::parallel
