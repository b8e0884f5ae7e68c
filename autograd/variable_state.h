// What a Variable points at; for autograd's own files.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "autograd/variable.h"

namespace torus::internal {

// Of a leaf's values, in 16 bits (low_copy.h).
struct LowCopy {
  Tensor values;
  uint64_t version = 0;  // of the leaf's tensor when it was made
};

struct VariableState {
  Tensor data;
  Tensor grad;  // leaves only
  bool requires_grad = false;
  std::shared_ptr<Node> node;  // null for a leaf
  int output_index = 0;
  std::vector<Variable::Hook> hooks;
  LowCopy low;
};

LowCopy& LowCopyPlace(const Variable& leaf);

// Adds `total`, the gradient of one Backward, to the leaf's, and calls its hooks.
void Accumulate(Variable& leaf, Tensor total);

}  // namespace torus::internal
