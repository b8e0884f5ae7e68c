// C = op(A) op(B) + bias, or C += op(A) op(B), for bf16 matrices, with the processor's native bf16
// products.
#pragma once

#include <cstdint>

#include "ops/cpu/gemm.h"
#include "runtime/dtype.h"

namespace torus::cpu {

// As Gemm: op(A) is (m, k), op(B) is (k, n), C is (m, n), with row strides in elements. All sums
// are f32; C, float or BFloat16, is rounded once, after `bias`, (n) or null, is added. With `add`,
// `bias` must be null, and the old C is added before the rounding.
//
// Uses oneDNN's matmul, and gemv.h for one row. It is fast on processors with AVX512_BF16 or
// AMX_BF16 (runtime/vector_unit.h); on others it runs plain loops or fails. The bits depend on the
// team size if k is long. Throws BrokenEnvironment if there is no memory.
template <class C>
void LowGemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
             const BFloat16* a, int64_t lda, const BFloat16* b, int64_t ldb, const float* bias,
             bool add, C* c, int64_t ldc);

}  // namespace torus::cpu
