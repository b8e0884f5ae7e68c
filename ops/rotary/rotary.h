// Rotary position embeddings (Su et al. 2021, "RoFormer", arXiv:2104.09864, equation 34).
#pragma once

#include "autograd/variable.h"
#include "ops/rotary/rotary_angles.h"

namespace torus::ops {

// Which angles, and of which positions.
struct RotaryOptions {
  RotaryFrequencies frequencies = {};  // of the pairs
  int64_t first = 0;                   // position of the first token
};

// Turns each head by its token's position. x is (..., T, heads, width) of any floating dtype, of
// which 16 bits are computed in f32, and any strides; the width is even. Element i of the first
// half of a head and element i of its second half are a pair (a, b), as in transformers (the paper
// pairs neighbours), and become (a cos - b sin, b cos + a sin) of the pair's angle. The result is
// contiguous. The gradient turns back, and keeps nothing of x. Throws BadInput for another shape or
// dtype, or a negative position.
Variable RotaryEmbedding(const Variable& x, const RotaryOptions& options = {});

}  // namespace torus::ops
