#include "parallel/schedule/v_shape.h"

#include "runtime/error.h"

namespace torus::parallel {

void CheckVShape(const char* name, const PipelineSize& size) {
  CheckSize(name, size, true);
  Require(size.chunks == 2, name, "runs two stages a rank, got {} chunks", size.chunks);
}

int VStage(int rank, int chunk, int ranks) { return chunk == 0 ? rank : 2 * ranks - 1 - rank; }

int& VRank::Next(ActionKind kind, int chunk) {
  return next_[chunk][IsForward(kind) ? 0 : kind == ActionKind::kBackwardWeight ? 2 : 1];
}

void VRank::Add(ActionKind kind, int chunk) {
  const int micro_batch = Next(kind, chunk)++;
  if (kind == ActionKind::kBackward) ++Next(ActionKind::kBackwardWeight, chunk);
  if (micro_batch < size_.micro_batches)
    actions.push_back({kind, VStage(rank_, chunk, size_.ranks), micro_batch});
}

void VRank::AddRest(ActionKind kind, int chunk) {
  while (Next(kind, chunk) < size_.micro_batches) Add(kind, chunk);
}

}  // namespace torus::parallel
