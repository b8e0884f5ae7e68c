// Row times matrix, as a decoder needs for each token; bound by reading the matrix.
#pragma once

#include <cstdint>

#include "runtime/dtype.h"

namespace torus::cpu {

// y (n) = x (k) B + bias. B is stored as (k, n) with row stride `ldb`, in elements; `bias` may be
// null. Each element is an f32 sum in the order of k, so the bits do not depend on the team size.
void LowRowTimes(int64_t n, int64_t k, const BFloat16* x, const BFloat16* b, int64_t ldb,
                 const float* bias, float* y);

// The same with B^T, where B is stored as (n, k). Each vector lane sums its own elements, then the
// lanes are summed; the bits do not depend on the team size.
void LowRowTimesTransposed(int64_t n, int64_t k, const BFloat16* x, const BFloat16* b, int64_t ldb,
                           const float* bias, float* y);

// y += x B^T in f32, by the same sums.
void AddRowTimesTransposed(int64_t n, int64_t k, const float* x, const float* b, int64_t ldb,
                           float* y);

}  // namespace torus::cpu
