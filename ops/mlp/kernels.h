// The kernels of an MLP with tanh GELU, besides plain products (ops/matmul/kernels.h). Tensors are
// contiguous, with dtypes that products take.
#pragma once

#include "autograd/op_observer.h"
#include "ops/mlp/cpu/gelu_product.h"
#include "ops/mlp/cuda/gelu_product.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// h (m, n) = gelu(Z), Z = a (m, k) b (k, n) + bias (n). Also writes Z to `z` (m, n), unless
// undefined. The bias may be undefined. In 16-bit types gelu may be applied to the unrounded sum.
inline void GeluProduct(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& z,
                        Tensor& h) {
  ObserveProduct(2 * h.numel() * a.dim(1));
  AtDoor(
      "gelu_mlp", h.device(), [&] { cpu::GeluProduct(a, b, bias, z, h); },
      [&](StreamHandle stream) { cuda::GeluProduct(a, b, bias, z, h, stream); });
}

// dz (m, n) = (a (m, k) b^T) gelu'(z), where b is stored as (n, k).
inline void GeluGradientProduct(const Tensor& a, const Tensor& b, const Tensor& z, Tensor& dz) {
  ObserveProduct(2 * dz.numel() * a.dim(1));
  AtDoor(
      "gelu_mlp", dz.device(), [&] { cpu::GeluGradientProduct(a, b, z, dz); },
      [&](StreamHandle stream) { cuda::GeluGradientProduct(a, b, z, dz, stream); });
}

}  // namespace torus::kernels
