// The kernels of point-wise ops, on the device of their tensors. `op` is the name in errors. All
// throw BadInput for values that are neither f32 nor f64, unless stated otherwise.
#pragma once

#include <string_view>

#include "ops/elementwise/binary_op.h"
#include "runtime/kernel_table.h"

namespace torus {

// out = what(a, b). a and b have any strides and broadcast to the shape of the contiguous out; all
// have one dtype, which may be i64 but for kDiv and kPow (modulo 2^64; no divisor is 0). On a GPU,
// sums, differences and products may be bf16 or f16, computed in f32 and rounded once, and a sum
// may add an f32 operand to such a one, into f32.
TORUS_KERNEL(Binary, op, out.device(),
             (std::string_view op, ops::BinaryOp what, const Tensor& a, const Tensor& b,
              Tensor& out),
             (op, what, a, b, out));

// Throws BadInput tagged `op` for a zero in `divisor`, contiguous i64, naming its position. On a
// GPU, if the thread has DeferredChecks (runtime/deferred_checks.h), the error is thrown later and
// `divisor` becomes a copy with 1 in place of zeros; otherwise this waits for the stream.
TORUS_KERNEL(CheckDivisor, op, divisor.device(), (std::string_view op, Tensor& divisor),
             (op, divisor));

// out (bool) = whether what(a, b) holds; with NaN only kNotEqual does. Values are f32, f64, i64 or
// bool. Strides and shapes as for Binary.
TORUS_KERNEL(Compare, op, out.device(),
             (std::string_view op, ops::CompareOp what, const Tensor& a, const Tensor& b,
              Tensor& out),
             (op, what, a, b, out));

// out = mask (bool) ? a : b, of any one dtype. Strides and shapes as for Binary.
TORUS_KERNEL(Select, op, out.device(),
             (std::string_view op, const Tensor& mask, const Tensor& a, const Tensor& b,
              Tensor& out),
             (op, mask, a, b, out));

// mask[i, j] (bool, contiguous) = whether j - i is in [low, high].
TORUS_KERNEL(Band, op, mask.device(),
             (std::string_view op, int64_t low, int64_t high, Tensor& mask), (op, low, high, mask));

// y = f.Forward(x) for every element, with a functor f as described in math_functors.h. x and y are
// contiguous, of one shape and dtype: f32, f64 or bf16, which is computed in f32 and rounded once.
TORUS_KERNEL_TEMPLATE(F, MapForward, op, y.device(),
                      (std::string_view op, const F& f, const Tensor& x, Tensor& y), (op, f, x, y));

// dx = f.Backward(kept, dy), where `kept` is y if F::kKeepsOutput, else x. Not for step functions.
TORUS_KERNEL_TEMPLATE(F, MapBackward, op, dx.device(),
                      (std::string_view op, const F& f, const Tensor& kept, const Tensor& dy,
                       Tensor& dx),
                      (op, f, kept, dy, dx));

}  // namespace torus
