// What an op says when it is given a variable that is undefined.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "autograd/variable.h"
#include "runtime/error.h"

namespace torus {
namespace internal {

// Thrown by what an undefined variable does not have: its tensor, its shape.
class UndefinedVariable : public BadInput {
 public:
  using BadInput::BadInput;
};

// Throws BadInput tagged `op` that lists the inputs, undefined ones as "none".
[[noreturn]] void FailUndefinedInput(std::string_view op, std::span<const Variable* const> inputs);

}  // namespace internal

// Throws BadInput tagged `op` unless all inputs are defined.
template <class... Inputs>
void RequireDefined(std::string_view op, const Inputs&... inputs) {
  if ((!inputs.defined() || ...)) [[unlikely]]
    internal::FailUndefinedInput(op, std::array<const Variable*, sizeof...(Inputs)>{&inputs...});
}

// Calls compute(inputs...). If that asks something of an undefined variable, the error names the
// op, for ops of which some inputs may be undefined and others not.
template <class F, class... Inputs>
Variable NamingUndefined(std::string_view op, const F& compute, const Inputs&... inputs) {
  try {
    return compute(inputs...);
  } catch (const internal::UndefinedVariable&) {
    internal::FailUndefinedInput(op, std::array<const Variable*, sizeof...(Inputs)>{&inputs...});
  }
}

}  // namespace torus
