#include "ops/matmul/product.h"

#include <algorithm>

#include "ops/cpu/gemm.h"
#include "ops/matmul/matmul_shape.h"
#include "runtime/parallel_for.h"

namespace torus::ops {
namespace {

// How GEMM reads the last two dimensions of a tensor.
struct Matrix {
  cpu::Transpose transpose;
  int64_t stride;  // between stored rows
};

bool IsMatrix(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
  return (column_stride == 1 || columns <= 1) && (row_stride >= columns || rows <= 1);
}

// `tensor` itself where GEMM can read its matrices, else a copy.
Tensor Readable(const Tensor& t) {
  const int64_t rows = t.dim(-2), columns = t.dim(-1);
  const int64_t down = t.strides()[t.rank() - 2], across = t.strides()[t.rank() - 1];
  const bool readable =
      IsMatrix(rows, columns, down, across) || IsMatrix(columns, rows, across, down);
  return readable ? t : t.Clone();
}

Matrix MatrixOf(const Tensor& t) {
  const int64_t rows = t.dim(-2), columns = t.dim(-1);
  const int64_t down = t.strides()[t.rank() - 2], across = t.strides()[t.rank() - 1];
  // A stride over a single row is never taken, but must not be less than a row.
  if (IsMatrix(rows, columns, down, across))
    return {cpu::Transpose::kNo, std::max<int64_t>({1, columns, rows > 1 ? down : 1})};
  return {cpu::Transpose::kYes, std::max<int64_t>({1, rows, columns > 1 ? across : 1})};
}

// Place of matrix `index` of the batch, in elements; strides of 0 repeat.
int64_t BatchOffset(const Shape& batch, const Strides& strides, int64_t index) {
  int64_t offset = 0;
  for (int d = batch.rank() - 1; d >= 0; --d) {
    offset += index % batch[d] * strides[d];
    index /= batch[d];
  }
  return offset;
}

Tensor ExpandBatch(const Tensor& t, const Shape& batch) {
  Shape shape = batch;
  shape.push_back(t.dim(-2));
  shape.push_back(t.dim(-1));
  return t.Expand(shape);
}

template <class T>
void BatchedGemm(const Tensor& a, const Tensor& b, const Shape& batch, Tensor& out) {
  const int64_t m = a.dim(-2), k = a.dim(-1), n = b.dim(-1), count = Numel(batch);
  const Matrix left = MatrixOf(a), right = MatrixOf(b);
  const T *pa = a.data<T>(), *pb = b.data<T>();
  T* pc = out.mutable_data<T>();
  const auto some = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      cpu::Gemm(left.transpose, right.transpose, m, n, k, T(1),
                pa + BatchOffset(batch, a.strides(), i), left.stride,
                pb + BatchOffset(batch, b.strides(), i), right.stride, T(0), pc + i * m * n, n);
  };
  // Enough matrices: one thread each. Few: all threads on each.
  if (count >= TeamSize())
    ParallelFor(count, 1, some);
  else
    some(0, count);
}

}  // namespace

Tensor MatrixProduct(const Tensor& a, const Tensor& b) {
  Require(a.dtype() == b.dtype(), "matmul", "dtypes differ: {} and {}", a, b);
  const Shape shape = MatmulShape(a.shape(), b.shape());
  Tensor out(shape, a.dtype(), a.device());
  // One matrix on the right: the batch is only more rows.
  if (b.rank() == 2 && a.rank() > 2 && a.is_contiguous() && a.dim(-1) > 0) {
    const Tensor rows = MatrixProduct(a.View({-1, a.dim(-1)}), b);
    return rows.View(shape);
  }
  const Shape batch = BatchOf(shape);
  const Tensor left = ExpandBatch(Readable(a), batch), right = ExpandBatch(Readable(b), batch);
  VisitCompute("matmul", a.dtype(),
               [&]<class T>(ComputeType<T>) { BatchedGemm<T>(left, right, batch, out); });
  return out;
}

}  // namespace torus::ops
