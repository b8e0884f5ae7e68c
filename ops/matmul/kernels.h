// The kernels of matrix products, on the device of their tensors. Tensors are f32 or f64, all of
// one dtype, or bf16 (on a GPU also f16) if the device multiplies it natively
// (ops/precision/native.h): sums are then f32, and the result, in the 16-bit type or f32, is
// rounded once; on a GPU it may be rounded once more before the bias is added (ops/cuda/gemm.h).
// Results are contiguous.
#pragma once

#include "autograd/observe_product.h"
#include "runtime/kernel_table.h"

namespace torus {

// out (m, n) = a (m, k) b (k, n) + bias (n); all contiguous. The bias may be undefined. With 16-bit
// operands it is f32 on a CPU, and has the result's dtype on a GPU.
TORUS_PRODUCT_KERNEL(Product, "linear", out.device(),
                     (const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out),
                     (a, b, bias, out), 2 * out.numel() * a.dim(1));

// The same with b^T, where b is stored as (n, k).
TORUS_PRODUCT_KERNEL(ProductByTransposed, "linear", out.device(),
                     (const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out),
                     (a, b, bias, out), 2 * out.numel() * a.dim(1));

// out = added + a b (or a b^T, where b is stored as (n, k)) + bias, which is as for Product.
// `added` has the dtype and shape of `out`, which it may be. On a GPU in one pass, which rounds
// once.
TORUS_PRODUCT_KERNEL(ProductPlus, "linear", out.device(),
                     (const Tensor& a, const Tensor& b, bool by_transposed, const Tensor& bias,
                      const Tensor& added, Tensor& out),
                     (a, b, by_transposed, bias, added, out), 2 * out.numel() * a.dim(1));

// out (m, n) = a^T b, where a is stored as (k, m); all contiguous.
TORUS_PRODUCT_KERNEL(ProductOfTransposed, "linear", out.device(),
                     (const Tensor& a, const Tensor& b, Tensor& out), (a, b, out),
                     2 * out.numel() * a.dim(0));

// sum (n), f32, = the sum of the rows of x (m, n), which is bf16 or, on a GPU, f16; both
// contiguous.
TORUS_KERNEL(SumOfLowRows, "linear", sum.device(), (const Tensor& x, Tensor& sum), (x, sum));

// Both in one call: out = a^T b, f32, and the sum of the rows of `a` (with of_a) or of `b`, which
// are 16-bit.
TORUS_PRODUCT_KERNEL(ProductOfTransposedAndSum, "linear", out.device(),
                     (const Tensor& a, const Tensor& b, bool of_a, Tensor& out, Tensor& sum),
                     (a, b, of_a, out, sum), 2 * out.numel() * a.dim(0));

// out (batch..., m, n) = a (batch..., m, k) b (batch..., k, n), matrix by matrix. Each matrix of a
// and b is row-major or column-major; batches may have any strides, including 0.
TORUS_PRODUCT_KERNEL(BatchedProduct, "matmul", out.device(),
                     (const Tensor& a, const Tensor& b, Tensor& out), (a, b, out),
                     2 * out.numel() * a.dim(-1));

}  // namespace torus
