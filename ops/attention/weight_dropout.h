// Dropout of attention weights: which random number decides which weight.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "ops/attention/attention.h"
#include "runtime/rng.h"

namespace torus::ops {

struct KeyedDropout {
  std::vector<RandomStream> streams;  // none: no dropout
  int64_t heads = 1;                  // per stream
  int64_t first_head = 0;             // the number of the first head
  double p = 0;

  // A weight whose word of the stream is below this (p 2^32) becomes 0, the others grow by Growth.
  uint64_t Threshold() const { return static_cast<uint64_t>(std::llround(p * 0x1p32)); }
  // The factor of kept weights; unused with p = 1, which drops all.
  double Growth() const { return p == 1 ? 0 : 1 / (1 - p); }
};

// Sets up dropout for a result with this batch shape. Throws BadInput for p outside of [0, 1], for
// dropout without a context, and if the number of samples does not divide the first dimension of
// the batch.
KeyedDropout MakeDropout(const AttentionOptions& options, const Shape& batch);

// The factor of each weight, with the shape, dtype and device of `weights` (batch..., rows, keys).
Tensor DropoutTensor(const KeyedDropout& dropout, const Tensor& weights);

}  // namespace torus::ops
