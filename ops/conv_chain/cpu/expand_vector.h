// The product that computes rows of a wide activation, including norm and clamp (expand.h).
#pragma once

#include <cstdint>

#include "ops/batch_norm/cpu/norm_rows.h"

namespace torus::cpu {

// out[r][c] = clamp(bias[c] + sum over k of x[r][k] weight[k][c]), on the calling thread. Meant for
// k of a few dozen at most: every few rows read the whole weight again, which must stay in the
// first-level cache.
void ExpandRows(const float* x, int64_t rows, int64_t k, const float* weight, int64_t channels,
                const float* bias, const Clamp& clamp, float* out);

}  // namespace torus::cpu
