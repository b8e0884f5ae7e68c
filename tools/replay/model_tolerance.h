// Tolerances for whole models, from tolerance.h, the model's own chain of sums, and
// rounding_noise.h.
//
// A value collects rounding errors from every sum on its way. Those of different layers are
// independent, so their variances add: a chain of sums of n_1, n_2, ... terms has the error of one
// sum of n_1 + n_2 + ... terms.
//
// That holds as long as no layer amplifies errors. A deep model with batch norm over few values
// does, so how far noise of the size of rounding errors moves the outputs is measured too
// (rounding_noise.h).
//
// Gradients pass that chain twice. They are compared in the norm, because kinks of activation
// functions change a few elements much rather than all a little. The effect of kinks is measured on
// the given model and batch (rounding_noise.h). The reference may differ at other kinks than any of
// the noisy runs, so twice the largest effect is allowed.
//
// The gradient of a batch norm's weight has the same terms as that of its bias, times normalized
// values. If the loss does not depend on the scale (ReLU, a depthwise convolution and another batch
// norm follow), these terms cancel. So the weight is compared on the scale of the larger of the two
// gradients.
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
  // For f32. Counts the terms of the model's weights. `run` runs the model on the same batch each
  // time, leaves gradients in its parameters and returns its output; it is called once for each
  // noise.
  ModelTolerance(const nn::Module& model, const std::function<Tensor()>& run);

  // The largest change of an output by noise of the size of rounding errors, relative to the
  // largest output.
  double noise_of_output() const { return noise_of_output_; }
  // The origin of an output or a loss; `scale` is the size of such values.
  Origin Forward(double scale) const { return {terms_, scale, noise_of_output_ * scale}; }
  // The largest allowed norm of got - want for the running statistic `name`, if such values have
  // the norm `norm`.
  double Statistic(const std::string& name, double norm) const;
  // The largest allowed norm of got - want, where `ours` is the gradient of parameter `name`,
  // `gradients` are all gradients of the model, and `largest` is the largest magnitude in them.
  double Gradient(const std::map<std::string, Tensor>& gradients, double largest,
                  const std::string& name, const Tensor& ours) const;
  // The largest allowed magnitude of MedianExcess, where `ours` are all gradients of the model.
  double Excess(const std::map<std::string, Tensor>& ours) const;

 private:
  int64_t terms_ = 0;
  std::vector<Tensor> outputs_;  // with each noise
  double noise_of_output_ = 0;   // relative to the largest
  RoundingNoise noise_;
};

}  // namespace torus::replay
