// The first and the last layer of AmoebaNet-D.
#pragma once

#include <memory>
#include <vector>

#include "models/nn/conv_norm.h"
#include "models/nn/global_average_pool.h"
#include "models/nn/linear.h"

namespace torus::amoebanet {

// ReLU, a 3 x 3 convolution of stride 2 and batch norm. Children "conv" and "bn".
class Stem : public nn::Module {
 public:
  Stem(int64_t channels, DType dtype);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  nn::LayerCost Cost(const Shape& input) const override;

 private:
  nn::ConvNorm layer_;
};

// The mean over all pixels, and a linear layer. Child "fc".
class Classify : public nn::Module {
 public:
  Classify(int64_t channels, int64_t classes, DType dtype);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // Of the two tensors between cells the first.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;
  nn::LayerCost Cost(const Shape& input) const override;

 private:
  nn::GlobalAveragePool pool_;
  std::shared_ptr<nn::Linear> linear_;
};

}  // namespace torus::amoebanet
