// The kernels of matrix products, on the device of their tensors. Tensors are f32 or f64, all of
// one dtype, or bf16 (on a GPU also f16) if the device multiplies it natively
// (ops/precision/native.h): sums are then f32, and the result, in the 16-bit type or f32, is
// rounded once; on a GPU it may be rounded once more before the bias is added (ops/cuda/gemm.h).
// Results are contiguous.
#pragma once

#include "autograd/op_observer.h"
#include "ops/matmul/cpu/product.h"
#include "ops/matmul/cuda/product.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// out (m, n) = a (m, k) b (k, n) + bias (n); all contiguous. The bias may be undefined. With 16-bit
// operands it is f32 on a CPU, and has the result's dtype on a GPU.
inline void Product(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out) {
  ObserveProduct(2 * out.numel() * a.dim(1));
  AtDoor(
      "linear", out.device(), [&] { cpu::Product(a, b, bias, out); },
      [&](StreamHandle stream) { cuda::Product(a, b, bias, out, stream); });
}

// The same with b^T, where b is stored as (n, k).
inline void ProductByTransposed(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out) {
  ObserveProduct(2 * out.numel() * a.dim(1));
  AtDoor(
      "linear", out.device(), [&] { cpu::ProductByTransposed(a, b, bias, out); },
      [&](StreamHandle stream) { cuda::ProductByTransposed(a, b, bias, out, stream); });
}

// out = added + a b (or a b^T, where b is stored as (n, k)) + bias, which is as for Product.
// `added` has the dtype and shape of `out`, which it may be. On a GPU in one pass, which rounds
// once.
inline void ProductPlus(const Tensor& a, const Tensor& b, bool by_transposed, const Tensor& bias,
                        const Tensor& added, Tensor& out) {
  ObserveProduct(2 * out.numel() * a.dim(1));
  AtDoor(
      "linear", out.device(), [&] { cpu::ProductPlus(a, b, by_transposed, bias, added, out); },
      [&](StreamHandle stream) {
        cuda::ProductPlus(a, b, by_transposed, bias, added, out, stream);
      });
}

// out (m, n) = a^T b, where a is stored as (k, m); all contiguous.
inline void ProductOfTransposed(const Tensor& a, const Tensor& b, Tensor& out) {
  ObserveProduct(2 * out.numel() * a.dim(0));
  AtDoor(
      "linear", out.device(), [&] { cpu::ProductOfTransposed(a, b, out); },
      [&](StreamHandle stream) { cuda::ProductOfTransposed(a, b, out, stream); });
}

// sum (n), f32, = the sum of the rows of x (m, n), which is bf16 or, on a GPU, f16; both
// contiguous.
inline void SumOfLowRows(const Tensor& x, Tensor& sum) {
  AtDoor(
      "linear", sum.device(), [&] { cpu::SumOfLowRows(x, sum); },
      [&](StreamHandle stream) { cuda::SumOfLowRows(x, sum, stream); });
}

// Both in one call: out = a^T b, f32, and the sum of the rows of `a` (with of_a) or of `b`, which
// are 16-bit.
inline void ProductOfTransposedAndSum(const Tensor& a, const Tensor& b, bool of_a, Tensor& out,
                                      Tensor& sum) {
  ObserveProduct(2 * out.numel() * a.dim(0));
  AtDoor(
      "linear", out.device(), [&] { cpu::ProductOfTransposedAndSum(a, b, of_a, out, sum); },
      [&](StreamHandle stream) { cuda::ProductOfTransposedAndSum(a, b, of_a, out, sum, stream); });
}

// out (batch..., m, n) = a (batch..., m, k) b (batch..., k, n), matrix by matrix. Each matrix of a
// and b is row-major or column-major; batches may have any strides, including 0.
inline void BatchedProduct(const Tensor& a, const Tensor& b, Tensor& out) {
  ObserveProduct(2 * out.numel() * a.dim(-1));
  AtDoor(
      "matmul", out.device(), [&] { cpu::BatchedProduct(a, b, out); },
      [&](StreamHandle stream) { cuda::BatchedProduct(a, b, out, stream); });
}

}  // namespace torus::kernels
