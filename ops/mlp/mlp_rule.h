// The gradient of an MLP with GELU by tanh (mlp.h), in Tensors.
#pragma once

#include <memory>

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/mlp/kernels.h"

namespace torus::ops {

// Of y = gelu(x wide + wide_bias) narrow + narrow_bias: inputs in that order, x first. What no
// gradient needs is undefined.
struct MlpRule {
  SavedActivation x, z, h;  // z = x wide + wide_bias, h = gelu(z)
  Saved wide, narrow;       // in the types that products take
  Shape input;
  DType weights;      // the type of their gradients
  bool inner_trains;  // `wide` or its bias

  // Where a first call asks for x's gradient alone, z's is held for a second one, which asks for
  // the weights': to find it again would cost a product.
  struct Held {
    Tensor dy, dz;
    uint64_t version = 0;  // of dy
  };
  std::shared_ptr<Held> held = std::make_shared<Held>();

  Gradients operator()(const GradContext& g) const;

 private:
  Tensor InnerGradient(const GradContext& g, const Tensor& dy) const;
};

}  // namespace torus::ops
