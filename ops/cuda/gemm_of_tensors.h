// Makes GemmCalls from tensors that are contiguous matrices (rows, columns).
#pragma once

#include <algorithm>

#include "ops/cuda/gemm.h"
#include "runtime/cuda/elements.h"

namespace torus::cuda {

// The row stride of a contiguous matrix; cuBLASLt requires at least 1.
inline int64_t RowStride(const Tensor& matrix) { return std::max<int64_t>(1, matrix.dim(1)); }

// out = op(a) op(b), without a bias.
template <class In, class Out>
GemmCall<In, Out> GemmCallOf(bool transpose_a, const Tensor& a, bool transpose_b, const Tensor& b,
                             Tensor& out) {
  return {out.dim(0),
          out.dim(1),
          a.dim(transpose_a ? 0 : 1),
          {Elements<In>(a), RowStride(a), transpose_a},
          {Elements<In>(b), RowStride(b), transpose_b},
          {MutableElements<Out>(out), RowStride(out)}};
}

}  // namespace torus::cuda
