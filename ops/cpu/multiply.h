// Matrix products for all element types of the kernels.
#pragma once

#include <type_traits>

#include "ops/cpu/gemm.h"
#include "ops/cpu/low_gemm.h"

namespace torus::cpu {

// C = op(A) op(B), or with `add` C += op(A) op(B). Calls LowGemm for bf16 (C is bf16 or f32), else
// Gemm.
template <class T, class C>
void Multiply(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
              const T* a, int64_t lda, const T* b, int64_t ldb, bool add, C* c, int64_t ldc) {
  if constexpr (std::is_same_v<T, BFloat16>)
    LowGemm(transpose_a, transpose_b, m, n, k, a, lda, b, ldb, nullptr, add, c, ldc);
  else
    Gemm(transpose_a, transpose_b, m, n, k, T(1), a, lda, b, ldb, T(add ? 1 : 0), c, ldc);
}

}  // namespace torus::cpu
