// Mixed precision for an op: its public function computes through InPrecision.
//
//   Variable Softmax(const Variable& input, int64_t dim) {
//     return InPrecision("softmax", [&](const Variable& x) { return SoftmaxOf(x, dim); }, input);
//   }
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "autograd/precision.h"
#include "autograd/undefined_input.h"
#include "autograd/variable.h"

namespace torus::ops {

namespace internal {

inline bool IsLow(const Variable& v) { return v.defined() && torus::IsLow(v.dtype()); }

// The conversions around a computation in f32.
struct Conversions {
  DType round_to;  // inputs are rounded to it before they are widened; kF32: not rounded
  DType result;    // of the output
};
// Considers only inputs that are f32 or 16-bit.
Conversions ConversionsOf(std::string_view op, std::span<const Variable* const> inputs);
// The 16-bit dtype that all of them have, else f32.
DType WidestOf(std::span<const Variable* const> inputs);
// Does ops::Cast; caches the 16-bit copy of a weight until its values change.
Variable CastTo(const Variable& input, DType dtype);
Variable Converted(const Variable& input, DType round_to);
Variable Rounded(const Variable& output, DType dtype);
bool HasF64(std::span<const Variable* const> inputs);

template <class F, class... Inputs>
Variable ComputeConverted(std::string_view op, const F& compute, const Inputs&... inputs) {
  const std::array<const Variable*, sizeof...(Inputs)> all{&inputs...};
  if (HasF64(all)) return compute(inputs...);
  const Conversions to = ConversionsOf(op, all);
  const auto computed = [&] {
    const auto in = std::array{Converted(inputs, to.round_to)...};
    const WithPrecision full(DType::kF32);
    return std::apply(compute, in);
  };
  return Rounded(computed(), to.result);
}

}  // namespace internal

// Calls compute(inputs...), which takes f32 inputs (or f64, which are never converted), by the op's
// policy. Under a WithPrecision the policy table decides the dtypes. Otherwise 16-bit inputs are
// computed in f32 and the result is rounded once to their dtype. Undefined and non-floating inputs
// pass unchanged; what needs an undefined one throws BadInput that names the op.
template <class F, class... Inputs>
Variable InPrecision(std::string_view op, const F& compute, const Inputs&... inputs) {
  if (WithPrecision::Current() == DType::kF32 && !(internal::IsLow(inputs) || ...)) [[likely]]
    return NamingUndefined(op, compute, inputs...);
  const auto converting = [&](const Inputs&... given) {
    return internal::ComputeConverted(op, compute, given...);
  };
  return NamingUndefined(op, converting, inputs...);
}

// Whether GPU kernels can take the inputs directly: the defined ones all have the same 16-bit
// dtype, which the kernels widen, compute in f32 and round once. For an op with policy kWidest this
// gives the bits of InPrecision without its copies.
template <class... Inputs>
bool StayLowOnGpu(const Variable& first, const Inputs&... others) {
  return internal::IsLow(first) && first.data().device().kind == DeviceKind::kCuda &&
         ((!others.defined() || others.dtype() == first.dtype()) && ...);
}

// Whether an op whose kernels for GPUs read and write every floating type, with sums in f32, leaves
// the conversions of its policy to them: the bits are those of InPrecision, without its copies.
inline bool RoundsOnGpu(const Variable& first) {
  return first.data().device().kind == DeviceKind::kCuda && first.dtype() != DType::kF64 &&
         (WithPrecision::Current() != DType::kF32 || internal::IsLow(first));
}

// The dtype of the op's result by its policy. Throws BadInput as InPrecision does.
template <class... Inputs>
DType ResultOf(std::string_view op, const Inputs&... inputs) {
  return internal::ConversionsOf(op, std::array<const Variable*, sizeof...(Inputs)>{&inputs...})
      .result;
}

// A weight in f32; undefined stays undefined.
inline Variable Widened(const Variable& weight) { return internal::Converted(weight, DType::kF32); }

// For an op that only moves the values of many inputs: under a WithPrecision converts all to the
// widest of their dtypes, else returns them unchanged.
std::vector<Variable> ToWidest(const std::vector<Variable>& inputs);

}  // namespace torus::ops
