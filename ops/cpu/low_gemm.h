// C = op(A) op(B) + bias, or C += op(A) op(B), of matrices in bf16 by the processor's own products.
#pragma once

#include <cstdint>

#include "ops/cpu/gemm.h"
#include "runtime/dtype.h"

namespace torus::cpu {

// As Gemm: op(A) is (m, k), op(B) is (k, n), C is (m, n), with row strides in elements. All sums
// are f32. C, float or BFloat16, is rounded once; `bias`, (n) or null, is added before. Where
// `add`, there is no bias, and what C holds is added before too.
//
// oneDNN's matmul, and low_gemv.h for one row. It is fast where the processor has AVX512_BF16 or
// AMX_BF16 (runtime/ vector_unit.h); elsewhere it computes by plain loops, or fails. The bits
// depend on the team size where k is long. BrokenEnvironment where there is no memory.
template <class C>
void LowGemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
             const BFloat16* a, int64_t lda, const BFloat16* b, int64_t ldb, const float* bias,
             bool add, C* c, int64_t ldc);

}  // namespace torus::cpu
