// Matrix products of plain tensors: no graph.
#pragma once

#include "runtime/tensor.h"

namespace torus::ops {

// (batch..., m, k) x (batch..., k, n), both of at least two dimensions and of one dtype, f32, f64
// or, where the device has products of it, bf16, with a result of `result`, bf16 or f32; batches
// broadcast. Matrices stored by rows or by columns are read where they lie; other strides are
// copied first. Contiguous result. BadInput tagged matmul.
Tensor MatrixProduct(const Tensor& a, const Tensor& b, DType result);
// In the dtype of both.
Tensor MatrixProduct(const Tensor& a, const Tensor& b);

}  // namespace torus::ops
