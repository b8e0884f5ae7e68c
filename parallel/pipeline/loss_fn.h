// LossFn: the loss that a run minimises.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "autograd/variable.h"
#include "runtime/step_context.h"

namespace torus::parallel {

// Computes the mean loss of one micro-batch, a variable of one element. Can be constructed from any
// function of (outputs, targets), or of (outputs, targets, context) if the loss needs the context
// of the micro-batch's forward, for example to communicate with tensor-parallel ranks. Constructed
// from a null pointer or an empty std::function it is empty.
class LossFn {
 public:
  using Outputs = std::vector<Variable>;  // of the model
  using Targets = std::vector<Tensor>;    // of the micro-batch

  LossFn() = default;
  LossFn(std::nullptr_t) {}  // NOLINT: none
  // Of such functions.
  template <class F>
  requires(!std::same_as<F, LossFn> &&
           std::invocable<F&, const Outputs&, const Targets&, const StepContext&>) LossFn(F loss)
      : loss_(std::move(loss)) {}  // NOLINT: converts
  // Of functions without the context.
  template <class F>
  requires(!std::same_as<F, LossFn> && std::invocable<F&, const Outputs&, const Targets&>)
      LossFn(F loss)  // NOLINT: converts
      : loss_(WithContext(std::move(loss))) {}

  // Calls the function; not of an empty one.
  Variable operator()(const Outputs& outputs, const Targets& targets,
                      const StepContext& context = {}) const {
    return loss_(outputs, targets, context);
  }
  explicit operator bool() const { return loss_ != nullptr; }  // whether it is not empty

 private:
  using Full = std::function<Variable(const Outputs&, const Targets&, const StepContext&)>;
  static Full WithContext(std::function<Variable(const Outputs&, const Targets&)> loss) {
    if (!loss) return nullptr;
    return [loss = std::move(loss)](const Outputs& outputs, const Targets& targets,
                                    const StepContext&) { return loss(outputs, targets); };
  }

  Full loss_;
};

}  // namespace torus::parallel
