// The kernels of an MLP with tanh GELU, besides plain products (ops/matmul/kernels.h). Tensors are
// contiguous, with dtypes that products take.
#pragma once

#include "autograd/observe_product.h"
#include "runtime/kernel_table.h"

namespace torus {

// h (m, n) = gelu(Z), Z = a (m, k) b (k, n) + bias (n). Also writes Z to `z` (m, n), unless
// undefined. The bias may be undefined. In 16-bit types gelu may be applied to the unrounded sum.
TORUS_PRODUCT_KERNEL(GeluProduct, "gelu_mlp", h.device(),
                     (const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& z, Tensor& h),
                     (a, b, bias, z, h), 2 * h.numel() * a.dim(1));

// dz (m, n) = (a (m, k) b^T) gelu'(z), where b is stored as (n, k).
TORUS_PRODUCT_KERNEL(GeluGradientProduct, "gelu_mlp", dz.device(),
                     (const Tensor& a, const Tensor& b, const Tensor& z, Tensor& dz), (a, b, z, dz),
                     2 * dz.numel() * a.dim(1));

}  // namespace torus
