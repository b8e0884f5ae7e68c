// Arguments of the kernels for the cross entropy of a linear layer's outputs.
#pragma once

#include <algorithm>

#include "ops/loss/class_targets.h"

namespace torus::ops {

// Contiguous: hidden (rows, width), weight (classes, width), bias (classes) or undefined; f32 or
// f64, all of one dtype. Hidden and weight may be bf16 (on a GPU also f16) if the device multiplies
// it natively: bias, loss and gradients are then f32, and the gradient of the logits is rounded for
// its products.
struct LinearClassProblem {
  Tensor hidden, weight, bias;
  ClassTargets targets;  // (rows)
  bool mean;             // the mean over rows that are not ignored, else the sum
  // The most logits in memory at once; 0: as many as the device's kernel takes.
  int64_t chunk = 0;
};

// Gradients for a loss gradient of 1; undefined ones are not computed.
struct LinearClassGradients {
  Tensor hidden, weight, bias;
  bool none() const { return !hidden.defined() && !weight.defined() && !bias.defined(); }
};

// Rows per chunk, where a row of logits takes the memory of `columns` and the kernel by itself
// takes `logits` at once; all chunks have about the same size.
inline int64_t ChunkRows(const LinearClassProblem& p, int64_t columns, int64_t logits) {
  const int64_t rows = p.hidden.dim(0), chunk = p.chunk > 0 ? p.chunk : logits;
  const int64_t most = std::max<int64_t>(1, chunk / std::max<int64_t>(1, columns));
  const int64_t chunks = std::max<int64_t>(1, (rows + most - 1) / most);
  return std::max<int64_t>(1, (rows + chunks - 1) / chunks);
}

}  // namespace torus::ops
