// A row times a matrix in bf16, which is bound by reading the matrix: what a decoder does for each
// token.
#pragma once

#include <cstdint>

#include "runtime/dtype.h"

namespace torus::cpu {

// y (n) = x (k) B + bias, with B (k, n) as it lies in memory, rows `ldb` elements apart; `bias` may
// be null. Each element is summed in f32 in the order of k: the bits do not depend on the team
// size.
void LowRowTimes(int64_t n, int64_t k, const BFloat16* x, const BFloat16* b, int64_t ldb,
                 const float* bias, float* y);

// The same with B^T, B being (n, k) as it lies in memory. A sum is one of the lanes of the vector
// unit, then of those.
void LowRowTimesTransposed(int64_t n, int64_t k, const BFloat16* x, const BFloat16* b, int64_t ldb,
                           const float* bias, float* y);

}  // namespace torus::cpu
