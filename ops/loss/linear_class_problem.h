// The cross entropy of a linear layer's classes, as it is asked of a device.
#pragma once

#include <algorithm>

#include "ops/loss/class_targets.h"

namespace torus::ops {

// Contiguous: hidden (rows, width), weight (classes, width), bias (classes) or undefined; f32 or
// f64, all of one dtype. Hidden and weight may be bf16, and on a GPU f16, where the device has
// products of that: bias, loss and gradients are f32 then, and the gradient of the logits is
// rounded for its products.
struct LinearClassProblem {
  Tensor hidden, weight, bias;
  ClassTargets targets;  // (rows)
  bool mean;             // of the rows that count, else the sum
  // Logits held at once: 128 MB of f32, still enough rows for GEMM's rate.
  int64_t chunk = 1 << 25;
};

// For a loss gradient of 1; an undefined one is not computed.
struct LinearClassGradients {
  Tensor hidden, weight, bias;
  bool none() const { return !hidden.defined() && !weight.defined() && !bias.defined(); }
};

// Rows that a device takes at once; the chunks are even.
inline int64_t ChunkRows(const LinearClassProblem& p) {
  const int64_t rows = p.hidden.dim(0), classes = p.weight.dim(0);
  const int64_t most = std::max<int64_t>(1, p.chunk / std::max<int64_t>(1, classes));
  const int64_t chunks = std::max<int64_t>(1, (rows + most - 1) / most);
  return std::max<int64_t>(1, (rows + chunks - 1) / chunks);
}

}  // namespace torus::ops
