// The gradient rule of an MLP with tanh GELU (mlp.h), on Tensors.
#pragma once

#include <memory>

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/matmul/affine.h"
#include "ops/mlp/kernels.h"

namespace torus::ops {

// The gradient of y = gelu(x wide + wide_bias) narrow + narrow_bias + residual, with inputs in that
// order, x first. Values that no gradient needs are undefined. dy, as products take it, is that of
// y rounded to `type`.
struct MlpRule {
  SavedActivation x, z, h;  // z = x wide + wide_bias, h = gelu(z)
  Saved wide, narrow;       // in dtypes that products take
  Shape input;
  DType type;
  AffineTypes wide_types, narrow_types;
  bool inner_trains;  // whether `wide` or its bias needs a gradient

  // If a first call asks only for x's gradient, it keeps z's gradient for a second call that asks
  // for the weights'; computing it again would take a product.
  struct Held {
    Tensor dy, dz;
    uint64_t version = 0;  // of dy
  };
  std::shared_ptr<Held> held = std::make_shared<Held>();

  Gradients operator()(const GradContext& g) const;

 private:
  Gradients OfProducts(const GradContext& g) const;
  Tensor InnerGradient(const GradContext& g, const Tensor& dy) const;
};

}  // namespace torus::ops
