#include "ops/precision/native.h"

#include <algorithm>

#include "autograd/low_copy.h"
#include "ops/precision/in_precision.h"
#include "ops/precision/policy.h"
#include "runtime/error.h"

namespace torus::ops {
namespace internal {

bool AllMayBeLow(std::string_view op, std::span<const Variable* const> inputs) {
  const Policy policy = PolicyOf(op);
  Require(policy == Policy::kLow || policy == Policy::kLowInputs, op,
          "computes in f32 by the table of precisions");
  const DType low = WithPrecision::Current();
  const bool may = std::ranges::all_of(inputs, [&](const Variable* v) {
    return !v->defined() || v->dtype() == DType::kF32 || v->dtype() == low;
  });
  Require(!may || low != DType::kF16 || inputs[0]->data().device().kind != DeviceKind::kCpu, op,
          "a CPU multiplies bf16 natively but not f16; emulate it, or use a GPU");
  return may;
}

}  // namespace internal

Variable ToLow(const Variable& activation) {
  return internal::CastTo(activation, WithPrecision::Current());
}

Tensor LowValues(const Variable& weight) {
  const DType low = WithPrecision::Current();
  if (weight.dtype() == low) return weight.data();
  return weight.is_leaf() && weight.requires_grad() ? LowCopyOf(weight, low)
                                                    : weight.data().To(low);
}

}  // namespace torus::ops
