// Layers without parameters, each a function of one tensor: Identity, and a base for others.
#pragma once

#include <functional>

#include "models/nn/module.h"

namespace torus::nn {

// Applies `function` to the activation.
class FunctionLayer : public Module {
 public:
  using Function = std::function<Variable(const Variable& x)>;  // what it applies
  explicit FunctionLayer(Function function) : function_(std::move(function)) {}
  Variable Forward(const Variable& x, const StepContext&) override { return function_(x); }

 private:
  Function function_;
};

// Returns its input: stands where a layer was left out.
class Identity : public FunctionLayer {
 public:
  Identity() : FunctionLayer([](const Variable& x) { return x; }) {}
};

}  // namespace torus::nn
