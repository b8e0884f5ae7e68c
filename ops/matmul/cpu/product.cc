#include <algorithm>

#include "ops/cpu/bias.h"
#include "ops/cpu/elements.h"
#include "ops/cpu/multiply.h"
#include "ops/matmul/kernels.h"
#include "ops/matmul/matrix_layout.h"
#include "runtime/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

// Multiplies contiguous bf16 matrices; k is the size of the sums.
void MultiplyLow(Transpose transpose_a, const Tensor& a, Transpose transpose_b, const Tensor& b,
                 int64_t k, const Tensor& bias, Tensor& out) {
  const auto write = [&]<class C>(C* c) {
    LowGemm(transpose_a, transpose_b, out.dim(0), out.dim(1), k, a.data<BFloat16>(), a.dim(1),
            b.data<BFloat16>(), b.dim(1), ElementsOrNull<float>(bias), false, c, out.dim(1));
  };
  if (out.dtype() == DType::kBF16) return write(out.mutable_data<BFloat16>());
  write(out.mutable_data<float>());
}

void Multiply(Transpose transpose_a, const Tensor& a, Transpose transpose_b, const Tensor& b,
              int64_t k, const Tensor& bias, Tensor& out) {
  if (a.dtype() == DType::kBF16) return MultiplyLow(transpose_a, a, transpose_b, b, k, bias, out);
  const int64_t m = out.dim(0), n = out.dim(1);
  if (bias.defined()) Copy(bias.Expand(out.shape()), out);
  VisitCompute("linear", out.dtype(), [&]<class T>(ComputeType<T>) {
    Gemm(transpose_a, transpose_b, m, n, k, T(1), a.data<T>(), a.dim(1), b.data<T>(), b.dim(1),
         T(bias.defined() ? 1 : 0), out.mutable_data<T>(), n);
  });
}

Transpose TransposeOf(const ops::StoredMatrix& matrix) {
  return matrix.transposed ? Transpose::kYes : Transpose::kNo;
}

// The offset of matrix `index` of the batch, in elements; strides of 0 repeat.
int64_t BatchOffset(const Tensor& t, int64_t index) {
  int64_t offset = 0;
  for (int d = t.rank() - 3; d >= 0; --d) {
    offset += index % t.dim(d) * t.strides()[d];
    index /= t.dim(d);
  }
  return offset;
}

template <class T, class C>
void MultiplyBatch(const Tensor& a, const Tensor& b, Tensor& out) {
  const int64_t m = a.dim(-2), k = a.dim(-1), n = b.dim(-1);
  int64_t count = 1;
  for (int d = 0; d + 2 < out.rank(); ++d) count *= out.dim(d);
  const ops::StoredMatrix left = ops::StoredAs(a), right = ops::StoredAs(b);
  const T *pa = a.data<T>(), *pb = b.data<T>();
  C* pc = out.mutable_data<C>();
  const auto some = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      Multiply(TransposeOf(left), TransposeOf(right), m, n, k, pa + BatchOffset(a, i), left.stride,
               pb + BatchOffset(b, i), right.stride, false, pc + i * m * n, n);
  };
  // Enough matrices: one thread each. Few: all threads on each.
  if (count >= TeamSize())
    ParallelFor(count, 1, some);
  else
    some(0, count);
}

}  // namespace

void Product(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out) {
  Multiply(Transpose::kNo, a, Transpose::kNo, b, a.dim(1), bias, out);
}

void ProductByTransposed(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out) {
  Multiply(Transpose::kNo, a, Transpose::kYes, b, a.dim(1), bias, out);
}

void ProductPlus(const Tensor& a, const Tensor& b, bool by_transposed, const Tensor& bias,
                 const Tensor& added, Tensor& out) {
  Tensor product(out.shape(), out.dtype());
  Multiply(Transpose::kNo, a, by_transposed ? Transpose::kYes : Transpose::kNo, b, a.dim(1), bias,
           product);
  if (added.raw() != out.raw()) Copy(added, out);
  AddInPlace(out, product);
}

void ProductOfTransposed(const Tensor& a, const Tensor& b, Tensor& out) {
  Multiply(Transpose::kYes, a, Transpose::kNo, b, a.dim(0), Tensor(), out);
}

void SumOfLowRows(const Tensor& x, Tensor& sum) {
  SumRows(x.data<BFloat16>(), x.dim(0), x.dim(1), sum.mutable_data<float>());
}

void ProductOfTransposedAndSum(const Tensor& a, const Tensor& b, bool of_a, Tensor& out,
                               Tensor& sum) {
  ProductOfTransposed(a, b, out);
  SumOfLowRows(of_a ? a : b, sum);
}

void BatchedProduct(const Tensor& a, const Tensor& b, Tensor& out) {
  if (a.dtype() == DType::kBF16)
    return out.dtype() == DType::kBF16 ? MultiplyBatch<BFloat16, BFloat16>(a, b, out)
                                       : MultiplyBatch<BFloat16, float>(a, b, out);
  VisitCompute("matmul", out.dtype(),
               [&]<class T>(ComputeType<T>) { MultiplyBatch<T, T>(a, b, out); });
}

}  // namespace torus::cpu
