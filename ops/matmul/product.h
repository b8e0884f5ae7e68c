// Matrix products on Tensors: records no graph.
#pragma once

#include "runtime/tensor.h"

namespace torus::ops {

// Multiplies (batch..., m, k) by (batch..., k, n), each with at least two dimensions; batches
// broadcast. Both have one dtype, f32, f64 or, if the device multiplies it natively, bf16, whose
// `result` is bf16 or f32. Row-major and column-major matrices are read in place; others are copied
// first. The result is contiguous. Throws BadInput tagged matmul.
Tensor MatrixProduct(const Tensor& a, const Tensor& b, DType result);
// The result has the dtype of both.
Tensor MatrixProduct(const Tensor& a, const Tensor& b);

}  // namespace torus::ops
