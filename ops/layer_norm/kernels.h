// The kernels of layer norm and RMS norm, on the device of their tensors. Tensors are contiguous,
// f32 or f64, all of one dtype. On a GPU x and y may be 16-bit instead of f32: both alike, or y
// alone; sums and all other tensors are then f32. x, y and their gradients are rows of n elements;
// mean and rstd are (rows), weight and bias (n). dx has the dtype of x, dy that of y. Without a
// mean (undefined) it is RMS norm: the mean of a row and mean(g) are taken for 0.
#pragma once

#include "runtime/kernel_table.h"

namespace torus {

// y = (x - mean) rstd weight + bias; writes mean and rstd = 1 / sqrt(var + eps) of each row.
TORUS_KERNEL(LayerNorm, "layer_norm", y.device(),
             (const Tensor& x, const Tensor& weight, const Tensor& bias, double eps, Tensor& y,
              Tensor& mean, Tensor& rstd),
             (x, weight, bias, eps, y, mean, rstd));

// With x^ = (x - mean) rstd and g = dy weight:
//   dx = rstd (g - mean(g) - x^ mean(g x^)),  dweight = sum_rows dy x^,  dbias = sum_rows dy
// Undefined dx, dweight and dbias are not computed. On a GPU `added`, like dx, is added to the
// rounded dx; elsewhere it must be undefined.
TORUS_KERNEL(LayerNormBackward, "layer_norm", dy.device(),
             (const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
              const Tensor& weight, const Tensor& added, Tensor& dx, Tensor& dweight,
              Tensor& dbias),
             (dy, x, mean, rstd, weight, added, dx, dweight, dbias));

}  // namespace torus
