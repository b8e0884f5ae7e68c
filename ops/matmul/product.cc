#include "ops/matmul/product.h"

#include "ops/matmul/kernels.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/matrix_layout.h"

namespace torus::ops {
namespace {

// `t` itself where kernels can read its matrices, else a copy.
Tensor Readable(const Tensor& t) { return LiesByRows(t) || LiesByColumns(t) ? t : t.Clone(); }

Tensor ExpandBatch(const Tensor& t, const Shape& batch) {
  Shape shape = batch;
  shape.push_back(t.dim(-2));
  shape.push_back(t.dim(-1));
  return t.Expand(shape);
}

}  // namespace

Tensor MatrixProduct(const Tensor& a, const Tensor& b, DType result) {
  Require(a.dtype() == b.dtype(), "matmul", "dtypes differ: {} and {}", a, b);
  const Shape shape = MatmulShape(a.shape(), b.shape());
  Tensor out(shape, result, CommonDevice("matmul", a, b));
  // With one matrix on the right, the batch just adds rows.
  if (b.rank() == 2 && a.rank() > 2 && a.is_contiguous() && a.dim(-1) > 0) {
    const Tensor rows = MatrixProduct(a.View({-1, a.dim(-1)}), b, result);
    return rows.View(shape);
  }
  const Shape batch = BatchOf(shape);
  kernels::BatchedProduct(ExpandBatch(Readable(a), batch), ExpandBatch(Readable(b), batch), out);
  return out;
}

Tensor MatrixProduct(const Tensor& a, const Tensor& b) { return MatrixProduct(a, b, a.dtype()); }

}  // namespace torus::ops
