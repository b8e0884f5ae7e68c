#include "parallel/schedule/zero_bubble_v.h"

#include <algorithm>

#include "parallel/schedule/v_shape.h"

namespace torus::parallel {
namespace {

constexpr ActionKind kF = ActionKind::kForward, kI = ActionKind::kBackwardInput,
                     kW = ActionKind::kBackwardWeight;

std::vector<Action> ActionsOf(const PipelineSize& size, int rank) {
  VRank list(size, rank);
  const int after = size.ranks - rank;
  // Fewer micro-batches have the order of the least number that fills the pipeline.
  const int steady = std::max(size.micro_batches, 2 * size.ranks - 1) - size.ranks;
  for (int i = 0; i < 2 * after - 1; ++i) list.Add(kF, 0);
  for (int i = 0; i < rank; ++i) {
    list.Add(kF, 1);
    list.Add(kF, 0);
  }
  for (int i = 0; i < after; ++i)
    for (const ActionKind kind : {kF, kI, kW}) list.Add(kind, 1);
  for (int i = 0; i < steady; ++i) {
    for (const ActionKind kind : {kF, kI, kW}) list.Add(kind, 0);
    for (const ActionKind kind : {kF, kI, kW}) list.Add(kind, 1);
  }
  for (int i = 0; i < rank; ++i) {
    list.Add(kI, 0);
    list.Add(kI, 1);
  }
  for (int i = 0; i < after; ++i) {
    list.Add(kI, 0);
    list.Add(kW, 0);
  }
  list.AddRest(kW, 1);
  list.AddRest(kW, 0);
  return std::move(list.actions);
}

}  // namespace

Schedule ZeroBubbleV(const PipelineSize& size) {
  CheckVShape("zb-v", size);
  Schedule schedule{"zb-v", size.ranks, size.stages(), size.micro_batches, {}};
  for (int rank = 0; rank < size.ranks; ++rank) schedule.ranks.push_back(ActionsOf(size, rank));
  return schedule;
}

}  // namespace torus::parallel
