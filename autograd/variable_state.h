// The state that a Variable points to. Internal to autograd.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "autograd/variable.h"

namespace torus::internal {

// The 16-bit copy of a leaf's values (low_copy.h).
struct LowCopy {
  Tensor values;              // undefined if forgotten
  uint64_t version = 0;       // of the leaf's tensor when it was made
  DType dtype = DType::kF32;  // the last that was asked for; kF32: none
};

struct VariableState {
  Tensor data;
  Tensor grad;  // leaves only
  bool requires_grad = false;
  std::shared_ptr<Node> node;  // null for a leaf
  int output_index = 0;
  std::vector<Variable::Hook> hooks;
  std::shared_ptr<LowCopy> low;  // null until it is asked for; leaves that share it share `data`
};

// Where the leaf's copy is kept.
LowCopy& LowCopyPlace(const Variable& leaf);

// Adds `total`, the gradient from one Backward, to the leaf's gradient, and calls its hooks.
void Accumulate(Variable& leaf, Tensor total);

}  // namespace torus::internal
