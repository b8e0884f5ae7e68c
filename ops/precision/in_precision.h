// How an op takes part in mixed precision: its public function computes through InPrecision.
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
#include "autograd/variable.h"

namespace torus::ops {

namespace internal {

inline bool IsLow(const Variable& v) { return v.defined() && torus::IsLow(v.dtype()); }

// What is done around the computing in f32.
struct Conversions {
  DType round_to;  // of inputs, before they are widened: kF32 for none
  DType result;    // of the output
};
// Of inputs that are f32 or 16 bits; others do not count.
Conversions ConversionsOf(std::string_view op, std::span<const Variable* const> inputs);
// The type of 16 bits that all of them have, else f32.
DType WidestOf(std::span<const Variable* const> inputs);
// As ops::Cast; a weight's copy in 16 bits is made once until its values change.
Variable CastTo(const Variable& input, DType dtype);
Variable Converted(const Variable& input, DType round_to);
Variable Rounded(const Variable& output, DType dtype);
bool HasF64(std::span<const Variable* const> inputs);

}  // namespace internal

// compute(inputs...), which takes f32 (or f64, which is left alone), by the op's policy: under a
// WithPrecision as the table says; else inputs in 16 bits are computed in f32 and the result is
// rounded to their type once. Undefined inputs, and those that are not floating, pass unchanged.
template <class F, class... Inputs>
Variable InPrecision(std::string_view op, const F& compute, const Inputs&... inputs) {
  if (WithPrecision::Current() == DType::kF32 && !(internal::IsLow(inputs) || ...)) [[likely]]
    return compute(inputs...);
  const std::array<const Variable*, sizeof...(Inputs)> all{&inputs...};
  if (internal::HasF64(all)) return compute(inputs...);
  const internal::Conversions to = internal::ConversionsOf(op, all);
  const auto computed = [&] {
    const auto in = std::array{internal::Converted(inputs, to.round_to)...};
    const WithPrecision full(DType::kF32);
    return std::apply(compute, in);
  };
  return internal::Rounded(computed(), to.result);
}

// Whether a GPU's kernels can take the inputs as they are, where these are defined: all of the same
// 16 bits, which they widen, compute in f32 and round once. The bits are those of InPrecision for
// an op whose policy is kWidest, without its copies.
template <class... Inputs>
bool StayLowOnGpu(const Variable& first, const Inputs&... others) {
  return internal::IsLow(first) && first.data().device().kind == DeviceKind::kCuda &&
         ((!others.defined() || others.dtype() == first.dtype()) && ...);
}

// For an op of many inputs that only moves their values: under a WithPrecision all in the widest of
// their types, else as they are.
std::vector<Variable> ToWidest(const std::vector<Variable>& inputs);

}  // namespace torus::ops
