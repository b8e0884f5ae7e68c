// Mixed precision for an op on a device that computes in a low (16-bit) dtype natively. If
// ComputesNatively, the op passes ToLow of its activations and LowValues of its weights to its
// kernels. The gradient of a weight is then the kernel's f32 sum, never rounded.
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

// Whether a WithPrecision asks for native products and the op's floating inputs are all f32 or of
// the low dtype. Throws BadInput for an op whose policy (policy.h) does not allow the low dtype.
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
