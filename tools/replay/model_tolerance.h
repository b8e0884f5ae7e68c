// Tolerances of whole models, from tolerance.h and the model's own chain of sums.
//
// A value's rounding errors come from every sum on its way. Each layer's are independent, so their variances add: a chain of sums of
// n_1, n_2, ... terms errs like one of n_1 + n_2 + ... terms. Let d be that error, relative to the values' size.
//
// Gradients of a model with ReLU have half as many digits. An activation within d of the kink may be masked on one side and
// not on the other. Pre-activations after batch norm are near to normal with deviation 1, density 0.4 at the kink; so a
// share of 0.4 d of a layer's N activations flips, about half of the N carry gradient, and each flip changes the gradient
// by one of those N / 2 contributions: relative to its norm, sqrt(0.4 d N / (N / 2)) = sqrt(0.8 d), whatever N is. Over L
// layers: sqrt(0.8 L d). Few values change much rather than all a little, hence gradients are compared in the norm.
// (In MobileNetV2 with 52 convolutions, between PyTorch's own f32 and f64, it is 0.008 for nearly all of its gradients: the
// formula says 0.013 before the factor 4.)
//
// Where a layer is small, a single flip is rare and weighs more than that average: four in the smallest layer with kinks
// are allowed besides, sqrt(4 * 2 / N).
//
// A batch norm's weight has the same terms as its bias, times normalized values. Where scale does not matter to the loss
// (ReLU, a depthwise convolution and another batch norm behind it) they cancel, so it is compared on the scale of the
// larger of the two.
#pragma once

#include <map>
#include <string>

#include "models/nn/sequential.h"
#include "tools/replay/tolerance.h"

namespace torus::replay {

class ModelTolerance {
 public:
  // For f32. Counts the terms of the model's convolutions and linear layers, and the activations of its layers for a batch of
  // `images` (N, H, W, C).
  ModelTolerance(const nn::Sequential& model, const Shape& images);

  // Of a value of the forward; `scale` is the size of values like it.
  Origin Forward(double scale) const { return {terms_, scale}; }
  // Largest |got - want| of the gradient of parameter `name` in the norm; `gradients` are all of the model's.
  double Gradient(const std::map<std::string, Tensor>& gradients, const std::string& name) const;

 private:
  int64_t terms_ = 0;
  double relative_ = 0;  // of a gradient's norm
};

}  // namespace torus::replay
