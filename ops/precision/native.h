// Mixed precision for an op on a device that computes in a low (16-bit) dtype natively. If
// ComputesNatively, the op passes ToLow of its activations and LowValues of its weights to its
// kernels. The gradient of a weight is then the kernel's f32 sum; it is rounded only if the weight
// itself has the low dtype.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "autograd/precision.h"
#include "autograd/variable.h"

namespace torus::ops {

namespace internal {
bool AllMayBeLow(std::string_view op, std::span<const Variable* const> inputs);
}

// The dtype in which kernels that compute in `dtype` sum, take a bias and give gradients of weights
// and biases: f32 for a 16-bit type, else the same.
inline DType SumTypeOf(DType dtype) { return IsLow(dtype) ? DType::kF32 : dtype; }

// Whether a WithPrecision asks for native products and the op's floating inputs are all f32 or of
// the low dtype. Throws BadInput for an op whose policy (policy.h) does not allow the low dtype,
// and for f16 on a CPU, which has no products of it.
template <class... Inputs>
bool ComputesNatively(std::string_view op, const Inputs&... inputs) {
  if (!WithPrecision::Native()) [[likely]]
    return false;
  return internal::AllMayBeLow(op, std::array<const Variable*, sizeof...(Inputs)>{&inputs...});
}

// Does ops::Cast to the thread's low dtype; returns the input itself if it has that already.
Variable ToLow(const Variable& activation);

// The weight's values in the thread's low dtype. The copy of a leaf is cached until its values
// change (autograd/low_copy.h). Records no graph: the op itself returns the weight's gradient.
Tensor LowValues(const Variable& weight);

}  // namespace torus::ops
