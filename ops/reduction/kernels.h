// The kernels of reductions other than sums (ops/sum/kernels.h), on the device of their tensors.
// Tensors are contiguous and values f32, f64 or i64; throws BadInput tagged `op` for other dtypes.
#pragma once

#include <string_view>

#include "runtime/kernel_table.h"

namespace torus {

// value[o] = max over c of x[o, c], or min with `smallest`, and where[o] (i64) the first c that has
// it. NaN counts as more extreme than any number. x is (outer, count); count >= 1 unless outer is
// 0.
TORUS_KERNEL(ExtremeOfRows, op, value.device(),
             (std::string_view op, bool smallest, const Tensor& x, Tensor& value, Tensor& where),
             (op, smallest, x, value, where));

// value[o] = product over c of x[o, c], which is (outer, count), in f64 and rounded once; of i64
// modulo 2^64.
TORUS_KERNEL(ProductOfRows, op, value.device(),
             (std::string_view op, const Tensor& x, Tensor& value), (op, x, value));

// y[o, c, i] = sum of x[o, k, i] over k <= c, or over k >= c with `reverse`; the running sum is
// f64, of i64 modulo 2^64.
TORUS_KERNEL(Cumsum, "cumsum", y.device(), (const Tensor& x, bool reverse, Tensor& y),
             (x, reverse, y));

}  // namespace torus
