// How point-wise ops of one input are made of a functor.
#pragma once

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/elementwise/kernels.h"
#include "ops/precision/in_precision.h"
#include "ops/precision/policy.h"

namespace torus::ops {

namespace internal {

template <class F>
Variable RecordMapOf(std::string_view op, const Variable& input, const F& f) {
  const Tensor x = input.data().Contiguous();
  Tensor y(x.shape(), x.dtype(), x.device());
  kernels::MapForward(op, f, x, y);
  return Record(op, y, {input},
                [op, f, kept = SavedActivation(F::kKeepsOutput ? y : x)](const GradContext& g) {
                  const Tensor s = kept.get();
                  Tensor dx(s.shape(), s.dtype(), s.device());
                  kernels::MapBackward(op, f, s, g.grad(), dx);
                  return Gradients{dx};
                });
}

}  // namespace internal

// f over every element of an f32, f64 or 16-bit tensor, with its gradient; keeps input or output as
// the functor says. BadInput tagged `op` for another dtype.
template <class F>
Variable RecordMap(std::string_view op, const Variable& input, const F& f) {
  // The kernels take bf16 as it is, and a GPU's f16, in one pass instead of three.
  const bool on_gpu = input.data().device().kind == DeviceKind::kCuda;
  if ((input.dtype() == DType::kBF16 || (on_gpu && input.dtype() == DType::kF16)) &&
      PolicyOf(op) == Policy::kWidest)
    return internal::RecordMapOf(op, input, f);
  return InPrecision(
      op, [&](const Variable& x) { return internal::RecordMapOf(op, x, f); }, input);
}

}  // namespace torus::ops
