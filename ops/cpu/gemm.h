// C = alpha op(A) op(B) + beta C over raw row-major matrices: the GEMM of all CPU ops.
#pragma once

#include <cstdint>

namespace torus::cpu {

enum class Transpose : bool { kNo, kYes };

// op(A) is (m, k), op(B) is (k, n), C is (m, n); `lda`, `ldb`, `ldc` are the row strides of the
// matrices as stored, in elements. With beta 0, C is written and never read, so it may hold NaN.
// Zero sizes are allowed. C must overlap neither A nor B. Runs on the calling thread's team.
//
// float uses oneDNN's packed SGEMM, whose bits depend on the team size if k is long, but for one row
// by a transposed matrix (gemv.h). double uses Eigen, whose bits do not. Throws BrokenEnvironment if there is no memory for packing or for
// generated code (onednn_error.h).
void Gemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
          float alpha, const float* a, int64_t lda, const float* b, int64_t ldb, float beta,
          float* c, int64_t ldc);
void Gemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
          double alpha, const double* a, int64_t lda, const double* b, int64_t ldb, double beta,
          double* c, int64_t ldc);

}  // namespace torus::cpu
