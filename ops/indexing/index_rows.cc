#include "ops/indexing/index_rows.h"

#include "ops/indexing/kernels.h"
#include "ops/sum/reduction_shape.h"

namespace torus::ops {
namespace {

// A contiguous tensor viewed as (before, dim, after).
Tensor AsRows(const Tensor& x, int dim) { return x.View(MiddleShape(x.shape(), dim, dim)); }

}  // namespace

Tensor PickedRows(std::string_view op, const Tensor& x, int dim, const Tensor& index) {
  Shape shape = x.shape();
  shape[dim] = index.numel();
  Tensor out(shape, x.dtype(), CommonDevice(op, x, index));
  kernels::SelectRows(op, AsRows(x, dim), index, out);
  return out;
}

Tensor AddedRows(std::string_view op, const Tensor& dy, const Shape& shape, int dim,
                 const Tensor& index, int64_t skip, Device device) {
  const DType type = AddedType(dy.dtype());
  Tensor sums(shape, type, device);
  Tensor rows = AsRows(sums, dim);
  kernels::AddRows(op, dy.To(type).Contiguous(), index, skip, rows);
  return sums;
}

}  // namespace torus::ops
