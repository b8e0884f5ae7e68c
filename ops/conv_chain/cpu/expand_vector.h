// The product that makes rows of a wide activation, with its norm and clamp (expand.h).
#pragma once

#include <cstdint>

#include "ops/batch_norm/cpu/norm_rows.h"

namespace torus::cpu {

// out[r][c] = clamp(bias[c] + sum over k of x[r][k] weight[k][c]), on the calling thread. For a few
// dozen k at most: the weight is read from the first-level cache again for every few rows.
void ExpandRows(const float* x, int64_t rows, int64_t k, const float* weight, int64_t channels,
                const float* bias, const Clamp& clamp, float* out);

}  // namespace torus::cpu
