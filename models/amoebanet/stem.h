// The first layer of AmoebaNet-D.
#pragma once

#include <memory>

#include "models/nn/conv_norm.h"

namespace torus::amoebanet {

// ReLU, a 3 x 3 convolution of stride 2 and batch norm. Children "conv" and "bn".
class Stem : public nn::Module {
 public:
  Stem(int64_t channels, DType dtype);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  nn::ConvNorm layer_;
};

}  // namespace torus::amoebanet
