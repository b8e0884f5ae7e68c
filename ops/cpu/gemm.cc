#include "ops/cpu/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>

#include "runtime/dry_run.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

// Rows a thread takes at least, so that tiny products do not wake the team.
int64_t RowGrain(int64_t n, int64_t k) {
  return std::max<int64_t>(1, 32768 / std::max<int64_t>(1, n * k));
}

template <class T>
void ScaleRow(T beta, int64_t n, T* row) {
  if (beta == T(0))
    std::fill(row, row + n, T(0));
  else if (beta != T(1)) {
    for (int64_t j = 0; j < n; ++j) row[j] *= beta;
  }
}

template <class T>
void ScaleRows(int64_t m, int64_t n, T beta, T* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i) ScaleRow(beta, n, c + i * ldc);
}

}  // namespace

void Gemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
          float alpha, const float* a, int64_t lda, const float* b, int64_t ldb, float beta,
          float* c, int64_t ldc) {
  if (m == 0 || n == 0) return;
  if (k == 0 || InDryRun()) return ScaleRows(m, n, beta, c, ldc);
  FixTeam();
  const dnnl_status_t status = dnnl_sgemm(transpose_a == Transpose::kYes ? 'T' : 'N',
                                          transpose_b == Transpose::kYes ? 'T' : 'N', m, n, k,
                                          alpha, a, lda, b, ldb, beta, c, ldc);
  TORUS_CHECK(status == dnnl_success, "dnnl_sgemm {} for ({}, {}) x ({}, {}), strides {} {} {}",
              static_cast<int>(status), m, k, k, n, lda, ldb, ldc);
}

void Gemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
          double alpha, const double* a, int64_t lda, const double* b, int64_t ldb, double beta,
          double* c, int64_t ldc) {
  const bool ta = transpose_a == Transpose::kYes, tb = transpose_b == Transpose::kYes;
  if (InDryRun()) return ScaleRows(m, n, beta, c, ldc);
  ParallelFor(m, RowGrain(n, k), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double* row = c + i * ldc;
      ScaleRow(beta, n, row);
      for (int64_t p = 0; p < k; ++p) {
        const double factor = alpha * (ta ? a[p * lda + i] : a[i * lda + p]);
        for (int64_t j = 0; j < n; ++j) row[j] += factor * (tb ? b[j * ldb + p] : b[p * ldb + j]);
      }
    }
  });
}

}  // namespace torus::cpu
