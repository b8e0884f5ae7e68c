// Rows of a dimension that an index names, on Tensors: for gradient rules, records no graph.
#pragma once

#include <string_view>

#include "ops/precision/native.h"
#include "runtime/tensor.h"

namespace torus::ops {

// The type in which values of this dtype add up: f32, f64 or i64.
inline DType AddedType(DType dtype) { return IsFloating(dtype) ? SumTypeOf(dtype) : DType::kI64; }

// Slices index[0], index[1], ... along `dim` of a contiguous x of any dtype; the index is checked.
Tensor PickedRows(std::string_view op, const Tensor& x, int dim, const Tensor& index);

// A tensor of `shape` on `device` to whose slice index[k] along `dim` slice k of dy was added, for
// every k in order, except for index value `skip` (-1: none). In the AddedType of dy's.
Tensor AddedRows(std::string_view op, const Tensor& dy, const Shape& shape, int dim,
                 const Tensor& index, int64_t skip, Device device);

}  // namespace torus::ops
