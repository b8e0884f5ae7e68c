// Makes point-wise ops of one input from a functor.
#pragma once

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/apply_map.h"
#include "ops/elementwise/kernels.h"
#include "ops/precision/in_precision.h"
#include "ops/precision/policy.h"

namespace torus::ops {

namespace internal {

template <class F>
concept StepFunctor = !requires(const F& f) {
  f.Backward(0.0f, 0.0f);
};

template <class F>
Variable RecordMapOf(std::string_view op, const Variable& input, const F& f) {
  const Tensor x = input.data().Contiguous(), y = ApplyMap(op, f, x);
  if constexpr (StepFunctor<F>)
    return Record(op, y, {input}, [](const GradContext&) { return Gradients{Tensor()}; });
  else
    return Record(op, y, {input},
                  [op, f, kept = SavedActivation(F::kKeepsOutput ? y : x)](const GradContext& g) {
                    const Tensor s = kept.get();
                    Tensor dx(s.shape(), s.dtype(), s.device());
                    kernels::MapBackward(op, f, s, g.grad(), dx);
                    return Gradients{dx};
                  });
}

}  // namespace internal

// Applies f to every element of an f32, f64 or 16-bit tensor and records the gradient, keeping the
// input or the output as the functor says; a step function (math_functors.h) keeps neither. Throws
// BadInput tagged `op` for other dtypes.
template <class F>
Variable RecordMap(std::string_view op, const Variable& input, const F& f) {
  RequireDefined(op, input);
  // The kernels take bf16, and on a GPU f16, directly: one pass instead of three.
  const bool on_gpu = input.data().device().kind == DeviceKind::kCuda;
  if ((input.dtype() == DType::kBF16 || (on_gpu && input.dtype() == DType::kF16)) &&
      PolicyOf(op) == Policy::kWidest)
    return internal::RecordMapOf(op, input, f);
  return InPrecision(
      op, [&](const Variable& x) { return internal::RecordMapOf(op, x, f); }, input);
}

}  // namespace torus::ops
