#include "ops/cpu/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <mutex>

// The team is ours.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

#include "ops/cpu/gemv.h"
#include "ops/cpu/onednn_error.h"
#include "runtime/address_space.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

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

// In Eigen the order of a sum depends on the position of its row among the rows of the call. With
// blocks of a fixed size, one thread each, the bits do not depend on the team size.
constexpr int64_t kBlockRows = 64;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Matrix>
using Stored = Eigen::Map<Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;

// Calls f with the (rows, columns) matrix at `p`, or with the transpose of the matrix stored there.
template <class F>
void WithOperand(Transpose transpose, int64_t rows, int64_t columns, const double* p,
                 Eigen::OuterStride<> stride, const F& f) {
  using Operand = Stored<const RowMajor>;
  if (transpose == Transpose::kNo)
    f(Operand(p, rows, columns, stride));
  else
    f(Operand(p, columns, rows, stride).transpose());
}

dnnl_status_t Sgemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
                    float alpha, const float* a, int64_t lda, const float* b, int64_t ldb,
                    float beta, float* c, int64_t ldc) {
  return dnnl_sgemm(transpose_a == Transpose::kYes ? 'T' : 'N',
                    transpose_b == Transpose::kYes ? 'T' : 'N', m, n, k, alpha, a, lda, b, ldb,
                    beta, c, ldc);
}

// oneDNN generates SGEMM's code in the first product of each form. If the address space is limited,
// small products make it do so now, while there is room.
void CompileSgemm() {
  RequireRoomForCode("gemm");
  if (AddressSpaceLeft().empty()) return;
  constexpr int64_t kSize = 8;
  float a[kSize * kSize] = {}, c[kSize * kSize];
  for (const Transpose left : {Transpose::kNo, Transpose::kYes}) {
    for (const Transpose right : {Transpose::kNo, Transpose::kYes}) {
      for (const int64_t n : {int64_t{1}, kSize}) {
        for (const float beta : {0.0f, 1.0f})
          Sgemm(left, right, n, n, n, 1, a, kSize, a, kSize, beta, c, kSize);
      }
    }
  }
}

}  // namespace

void Gemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
          float alpha, const float* a, int64_t lda, const float* b, int64_t ldb, float beta,
          float* c, int64_t ldc) {
  if (m == 0 || n == 0) return;
  if (k == 0) return ScaleRows(m, n, beta, c, ldc);
  if (m == 1 && alpha == 1 && transpose_a == Transpose::kNo && transpose_b == Transpose::kYes) {
    ScaleRow(beta, n, c);
    return AddRowTimesTransposed(n, k, a, b, ldb, c);
  }
  FixTeam();
  static std::once_flag compiled;
  std::call_once(compiled, CompileSgemm);
  const dnnl_status_t status =
      Sgemm(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (status != dnnl_success)
    FailOnednn(fmt::format("gemm ({}, {}) x ({}, {})", m, k, k, n), status);
}

void Gemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k,
          double alpha, const double* a, int64_t lda, const double* b, int64_t ldb, double beta,
          double* c, int64_t ldc) {
  ParallelFor((m + kBlockRows - 1) / kBlockRows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin * kBlockRows; row < std::min(m, end * kBlockRows); row += kBlockRows) {
      const int64_t rows = std::min(kBlockRows, m - row);
      Stored<RowMajor> out(c + row * ldc, rows, n, Eigen::OuterStride<>(ldc));
      ScaleRows(rows, n, beta, out.data(), ldc);
      const double* left = a + row * (transpose_a == Transpose::kYes ? 1 : lda);
      WithOperand(transpose_a, rows, k, left, Eigen::OuterStride<>(lda), [&](const auto& x) {
        WithOperand(transpose_b, k, n, b, Eigen::OuterStride<>(ldb),
                    [&](const auto& y) { out.noalias() += alpha * x * y; });
      });
    }
  });
}

}  // namespace torus::cpu
