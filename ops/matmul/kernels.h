// What matrix products ask of a device. Tensors are f32 or f64, all of one dtype, or bf16, and on a
// GPU f16, where the device has products of that (ops/precision/native.h): sums are f32 then, and
// the result, low or f32, is rounded once. Results are contiguous.
#pragma once

#include "autograd/op_observer.h"
#include "ops/matmul/cpu/product.h"
#include "ops/matmul/cuda/product.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// out (m, n) = a (m, k) b (k, n) + bias (n); all contiguous. An undefined bias is none; beside bf16
// it is f32 on a CPU, and on a GPU of the type of the result.
inline void Product(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out) {
  ObserveProduct(2 * out.numel() * a.dim(1));
  AtDoor(
      "linear", out.device(), [&] { cpu::Product(a, b, bias, out); },
      [&](StreamHandle stream) { cuda::Product(a, b, bias, out, stream); });
}

// The same with b^T, b being (n, k) as it lies in memory.
inline void ProductByTransposed(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out) {
  ObserveProduct(2 * out.numel() * a.dim(1));
  AtDoor(
      "linear", out.device(), [&] { cpu::ProductByTransposed(a, b, bias, out); },
      [&](StreamHandle stream) { cuda::ProductByTransposed(a, b, bias, out, stream); });
}

// out (m, n) = a^T b, a being (k, m) as it lies in memory; all contiguous.
inline void ProductOfTransposed(const Tensor& a, const Tensor& b, Tensor& out) {
  ObserveProduct(2 * out.numel() * a.dim(0));
  AtDoor(
      "linear", out.device(), [&] { cpu::ProductOfTransposed(a, b, out); },
      [&](StreamHandle stream) { cuda::ProductOfTransposed(a, b, out, stream); });
}

// sum (n), f32, of the rows of x (m, n), bf16 or, on a GPU, f16; both contiguous.
inline void SumOfLowRows(const Tensor& x, Tensor& sum) {
  AtDoor(
      "linear", sum.device(), [&] { cpu::SumOfLowRows(x, sum); },
      [&](StreamHandle stream) { cuda::SumOfLowRows(x, sum, stream); });
}

// Both in one: out = a^T b, f32, and the sums over the rows of `a` (of_a) or of `b`, all low.
inline void ProductOfTransposedAndSum(const Tensor& a, const Tensor& b, bool of_a, Tensor& out,
                                      Tensor& sum) {
  ObserveProduct(2 * out.numel() * a.dim(0));
  AtDoor(
      "linear", out.device(), [&] { cpu::ProductOfTransposedAndSum(a, b, of_a, out, sum); },
      [&](StreamHandle stream) { cuda::ProductOfTransposedAndSum(a, b, of_a, out, sum, stream); });
}

// out (batch..., m, n) = a (batch..., m, k) b (batch..., k, n), matrix by matrix. Each matrix of a
// and b lies in memory by rows or by columns; batches may have any strides, 0 too.
inline void BatchedProduct(const Tensor& a, const Tensor& b, Tensor& out) {
  ObserveProduct(2 * out.numel() * a.dim(-1));
  AtDoor(
      "matmul", out.device(), [&] { cpu::BatchedProduct(a, b, out); },
      [&](StreamHandle stream) { cuda::BatchedProduct(a, b, out, stream); });
}

}  // namespace torus::kernels
