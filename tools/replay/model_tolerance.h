// Tolerances of whole models, from tolerance.h, the model's own chain of sums and rounding_noise.h.
//
// A value's rounding errors come from every sum on its way. Each layer's are independent, so their
// variances add: a chain of sums of n_1, n_2, ... terms errs like one of n_1 + n_2 + ... terms.
//
// That holds where no layer makes an error larger. A deep model with batch norm over few values
// does, so how far noise of the size of rounding moves its outputs is measured too
// (rounding_noise.h).
//
// Gradients pass that chain twice, and are compared in the norm: kinks of activation functions
// change few elements much rather than all a little. What kinks may do is measured on the model and
// batch at hand, see rounding_noise.h; the reference may have fallen otherwise than any of the
// runs with noise, hence twice the largest of them.
//
// A batch norm's weight has the same terms as its bias, times normalized values. Where scale does
// not matter to the loss (ReLU, a depthwise convolution and another batch norm behind it) they
// cancel, so it is compared on the scale of the larger of the two.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/nn/module.h"
#include "tools/replay/rounding_noise.h"
#include "tools/replay/tolerance.h"

namespace torus::replay {

class ModelTolerance {
 public:
  // For f32. Counts the terms of the model's weights. `run` leaves gradients in its parameters,
  // from the same batch each time, and gives the model's output; it is called for each noise.
  ModelTolerance(const nn::Module& model, const std::function<Tensor()>& run);

  // What noise of the size of rounding makes of the largest output, relative.
  double noise_of_output() const { return noise_of_output_; }
  // Of an output or a loss; `scale` is the size of values like it.
  Origin Forward(double scale) const { return {terms_, scale, noise_of_output_ * scale}; }
  // Largest |got - want| in the norm of the running statistic `name`, where values like it have
  // `norm`.
  double Statistic(const std::string& name, double norm) const;
  // Largest |got - want| in the norm, where `ours` is the gradient of parameter `name`, all of the
  // model's are `gradients`, and `largest` is the largest magnitude in them.
  double Gradient(const std::map<std::string, Tensor>& gradients, double largest,
                  const std::string& name, const Tensor& ours) const;
  // Largest magnitude of MedianExcess of `ours`, all gradients of the model.
  double Excess(const std::map<std::string, Tensor>& ours) const;

 private:
  int64_t terms_ = 0;
  std::vector<Tensor> outputs_;  // with each noise
  double noise_of_output_ = 0;   // relative to the largest
  RoundingNoise noise_;
};

}  // namespace torus::replay
