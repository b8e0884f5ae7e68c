#include "ops/precision/in_precision.h"

#include <algorithm>
#include <string>
#include <vector>

#include "autograd/low_copy.h"
#include "autograd/node.h"
#include "ops/precision/policy.h"
#include "runtime/error.h"

namespace torus::ops::internal {
namespace {

bool IsConverted(const Variable& v) {
  return v.defined() && (v.dtype() == DType::kF32 || IsLow(v));
}

std::string NamesOf(std::span<const Variable* const> inputs) {
  std::vector<std::string_view> names;
  for (const Variable* input : inputs)
    if (input->defined()) names.push_back(Name(input->dtype()));
  return fmt::format("{}", fmt::join(names, ", "));
}

Conversions OfPolicy(Policy policy, std::span<const Variable* const> inputs, DType low) {
  switch (policy) {
    case Policy::kLow:
      return {low, low};
    case Policy::kLowInputs:
      return {low, DType::kF32};
    case Policy::kLowOutput:
      return {DType::kF32, low};
    case Policy::kFirst:
      return {DType::kF32, inputs[0]->dtype()};
    case Policy::kWidest:
      return {DType::kF32, WidestOf(inputs)};
    default:
      return {DType::kF32, DType::kF32};
  }
}

}  // namespace

Variable CastTo(const Variable& input, DType dtype) {
  const DType from = input.dtype();
  if (from == dtype) return input;
  const bool weight = dtype != DType::kF32 && input.is_leaf() && input.requires_grad();
  Tensor out = weight ? LowCopyOf(input, dtype) : input.data().To(dtype);
  return Record("cast", std::move(out), {input},
                [from](const GradContext& g) { return Gradients{g.grad().To(from)}; });
}

DType WidestOf(std::span<const Variable* const> inputs) {
  DType widest = DType::kF32;
  bool first = true;
  for (const Variable* input : inputs) {
    if (!IsConverted(*input)) continue;
    widest = first || input->dtype() == widest ? input->dtype() : DType::kF32;
    first = false;
  }
  return widest;
}

bool HasF64(std::span<const Variable* const> inputs) {
  return std::ranges::any_of(
      inputs, [](const Variable* v) { return v->defined() && v->dtype() == DType::kF64; });
}

Conversions ConversionsOf(std::string_view op, std::span<const Variable* const> inputs) {
  const Policy policy = PolicyOf(op);
  const DType low = WithPrecision::Current();
  if (low != DType::kF32) return OfPolicy(policy, inputs, low);
  const DType common = policy == Policy::kFirst ? inputs[0]->dtype() : WidestOf(inputs);
  Require(policy == Policy::kFirst || common != DType::kF32, op, "dtypes differ: {}",
          NamesOf(inputs));
  return {DType::kF32, common};
}

Variable Converted(const Variable& input, DType round_to) {
  if (!IsConverted(input)) return input;
  const Variable rounded =
      round_to == DType::kF32 || IsLow(input) ? input : CastTo(input, round_to);
  return CastTo(rounded, DType::kF32);
}

Variable Rounded(const Variable& output, DType dtype) {
  return output.dtype() == DType::kF32 ? CastTo(output, dtype) : output;
}

}  // namespace torus::ops::internal

namespace torus::ops {

std::vector<Variable> ToWidest(const std::vector<Variable>& inputs) {
  std::vector<const Variable*> all;
  for (const Variable& input : inputs) all.push_back(&input);
  if (WithPrecision::Current() == DType::kF32 || internal::HasF64(all)) return inputs;
  const DType widest = internal::WidestOf(all);
  std::vector<Variable> converted;
  for (const Variable& input : inputs)
    converted.push_back(widest == DType::kF32 ? internal::Converted(input, DType::kF32) : input);
  return converted;
}

}  // namespace torus::ops
