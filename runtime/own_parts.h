// Parts of a tensor that are tensors of their own.
#pragma once

#include <vector>

#include "runtime/tensor.h"

namespace torus {

// The parts of a contiguous tensor along dimension 0, whose sizes add up to it. Each has a storage
// of its own, which keeps the memory of all alive: so they may be written and given away apart from
// each other, as gradients of several weights are. Undefined ones of an undefined tensor.
std::vector<Tensor> OwnParts(const Tensor& whole, const std::vector<int64_t>& sizes);

}  // namespace torus
