#include "runtime/broadcast.h"

namespace torus {
namespace {

// Whether one step of dimension `outer` equals a whole dimension `inner`, in every operand.
bool Mergeable(const BroadcastPlan& plan, int outer, int inner) {
  for (int k = 0; k < plan.operands; ++k)
    if (plan.strides[k][outer] != plan.strides[k][inner] * plan.shape[inner]) return false;
  return true;
}

void AppendDim(const BroadcastPlan& from, int dim, BroadcastPlan& to) {
  to.shape.push_back(from.shape[dim]);
  for (int k = 0; k < from.operands; ++k) to.strides[k].push_back(from.strides[k][dim]);
}

// Merges dimension `dim` of `from` into the last dimension of `to`.
void MergeDim(const BroadcastPlan& from, int dim, BroadcastPlan& to) {
  const int last = to.shape.rank() - 1;
  to.shape[last] *= from.shape[dim];
  for (int k = 0; k < from.operands; ++k) to.strides[k][last] = from.strides[k][dim];
}

}  // namespace

BroadcastPlan MergedPlan(const BroadcastPlan& full) {
  BroadcastPlan plan{.operands = full.operands};
  int before = -1;
  for (int dim = 0; dim < full.shape.rank(); ++dim) {
    if (full.shape[dim] == 1) continue;
    if (before >= 0 && Mergeable(full, before, dim))
      MergeDim(full, dim, plan);
    else
      AppendDim(full, dim, plan);
    before = dim;
  }
  return plan;
}

}  // namespace torus
