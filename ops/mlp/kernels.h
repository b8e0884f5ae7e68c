// What an MLP with GELU by tanh asks of a device beside products (ops/matmul/kernels.h). Tensors
// are contiguous, of types that products take.
#pragma once

#include "autograd/op_observer.h"
#include "ops/mlp/cpu/gelu_product.h"
#include "ops/mlp/cuda/gelu_product.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// h (m, n) = gelu(Z), Z = a (m, k) b (k, n) + bias (n). `z`, (m, n), becomes Z unless it is
// undefined; an undefined bias is none. Of 16 bits gelu may see Z as it was summed.
inline void GeluProduct(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& z,
                        Tensor& h) {
  ObserveProduct(2 * h.numel() * a.dim(1));
  AtDoor(
      "gelu_mlp", h.device(), [&] { cpu::GeluProduct(a, b, bias, z, h); },
      [&](StreamHandle stream) { cuda::GeluProduct(a, b, bias, z, h, stream); });
}

// dz (m, n) = (a (m, k) b^T) gelu'(z), b being (n, k) as it lies in memory.
inline void GeluGradientProduct(const Tensor& a, const Tensor& b, const Tensor& z, Tensor& dz) {
  ObserveProduct(2 * dz.numel() * a.dim(1));
  AtDoor(
      "gelu_mlp", dz.device(), [&] { cpu::GeluGradientProduct(a, b, z, dz); },
      [&](StreamHandle stream) { cuda::GeluGradientProduct(a, b, z, dz, stream); });
}

}  // namespace torus::kernels
