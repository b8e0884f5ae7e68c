// How an op takes part in mixed precision on a device that computes in a low type by itself: it
// asks ComputesNatively, and if so hands its kernels ToLow of its activations and LowValues of its
// weights. The gradient of a weight is then f32 as its kernel sums it, rounded nowhere.
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

// Whether a WithPrecision asks for the device's own products, and the op's floating inputs are all
// f32 or of the low type. BadInput for an op that the table of precisions does not give to the low
// type.
template <class... Inputs>
bool ComputesNatively(std::string_view op, const Inputs&... inputs) {
  if (!WithPrecision::Native()) [[likely]]
    return false;
  return internal::AllMayBeLow(op, std::array<const Variable*, sizeof...(Inputs)>{&inputs...});
}

// As ops::Cast to the thread's low type; itself where it has that.
Variable ToLow(const Variable& activation);

// The weight's values in the thread's low type; of a leaf one copy until its values change
// (autograd/low_copy.h). No graph: the op gives the weight's own gradient.
Tensor LowValues(const Variable& weight);

}  // namespace torus::ops
