// Variance and standard deviation over dimensions, as torch.var and std. f32 or f64. Dimensions as
// in reduction.h.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// sum (x - mean)^2 / max(0, n - correction); correction 1 is Bessel's, 0 the population's variance.
// A correction of n or more divides by zero: infinity, or NaN where all elements are equal, as in
// PyTorch's kernels for CPUs and for NVIDIA's GPUs. The gradient is PyTorch's too, on any device:
// 2 (x - mean) / (n - correction); but infinity, or NaN for elements equal to the mean, where
// `dims` is empty and the correction n or more.
Variable Var(const Variable& input, const Dims& dims = {}, double correction = 1,
             bool keepdim = false);

// The root of the variance. As in PyTorch the gradient is 0 where it is 0.
Variable Std(const Variable& input, const Dims& dims = {}, double correction = 1,
             bool keepdim = false);

}  // namespace torus::ops
