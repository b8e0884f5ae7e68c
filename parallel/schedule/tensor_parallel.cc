#include "parallel/schedule/tensor_parallel.h"

#include <cstddef>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

void CheckRanks(int ranks) {
  Require(ranks >= 1, "simulator", "tensor parallelism needs a rank, got {}", ranks);
}

void ShareOut(int ranks, std::vector<double>& costs) {
  for (double& cost : costs) cost /= ranks;
}

void ShareCuts(int ranks, const LinkModel& link, CostModel& costs) {
  costs.decode.resize(costs.forward.size(), 0);
  for (size_t s = 0; s < costs.boundary_bytes.size(); ++s)
    costs.decode[s] += AllGatherSeconds(ranks, costs.boundary_bytes[s], link);
  ShareOut(ranks, costs.boundary_bytes);
}

}  // namespace

double AllReduceBytes(int ranks, double bytes) {
  CheckRanks(ranks);
  return 2 * bytes * (ranks - 1) / ranks;
}

double AllReduceSeconds(int ranks, double bytes, const LinkModel& link) {
  CheckRanks(ranks);
  if (ranks == 1) return 0;
  return 2 * (link.latency + link.Occupied(bytes * (ranks - 1) / ranks));
}

double AllGatherSeconds(int ranks, double bytes, const LinkModel& link) {
  CheckRanks(ranks);
  if (ranks == 1) return 0;
  return link.latency + link.Occupied(bytes * (ranks - 1) / ranks);
}

int ForwardSums(const TensorParallelStage& stage) {
  return 2 * stage.blocks + (stage.embedding ? 1 : 0);
}

int BackwardSums(const TensorParallelStage& stage) {
  return 2 * stage.blocks + (stage.head ? 1 : 0);
}

double TensorParallelBytes(int ranks, const TensorParallelStage& stage) {
  return (ForwardSums(stage) + BackwardSums(stage)) * AllReduceBytes(ranks, stage.activation_bytes);
}

CostModel WithTensorParallel(const CostModel& whole, int ranks,
                             const std::vector<TensorParallelStage>& stages, const LinkModel& link,
                             TensorCuts cuts) {
  CheckRanks(ranks);
  Require(whole.forward.size() == stages.size() && whole.backward.size() == stages.size(),
          "simulator", "tensor parallelism needs times of {} stages, got {} forward, {} backward",
          stages.size(), whole.forward.size(), whole.backward.size());
  CostModel costs = whole;
  for (const CostList& kind : kCostLists)
    if (kind.of_work && kind.list != &CostModel::activation_bytes)
      ShareOut(ranks, costs.*kind.list);
  for (size_t s = 0; s < stages.size(); ++s) {
    const double sum = AllReduceSeconds(ranks, stages[s].activation_bytes, link);
    costs.forward[s] += ForwardSums(stages[s]) * sum;
    costs.backward[s] += BackwardSums(stages[s]) * sum;
  }
  if (cuts == TensorCuts::kShared && ranks > 1) ShareCuts(ranks, link, costs);
  return costs;
}

}  // namespace torus::parallel
