// WeightAverage: an exponential moving average of a stage's weights, which is often better than the
// weights themselves (Polyak and Juditsky 1992, "Acceleration of stochastic approximation by
// averaging"; as torch.optim.swa_utils.AveragedModel with get_ema_multi_avg_fn). Internal to the
// trainer.
#pragma once

#include <vector>

#include "autograd/variable.h"
#include "runtime/tensor.h"

namespace torus::parallel {

class WeightAverage {
 public:
  // `parameters`: f32 or f64 leaves. 0 < decay < 1.
  WeightAverage(std::vector<NamedVariable> parameters, double decay);

  // Call after a step: average = decay x average + (1 - decay) x weight; the first average is the
  // weight.
  void Update();

  // The averages, under the names of the parameters, not copied. Empty before the first Update.
  std::vector<NamedTensor> State() const;
  // Replaces the averages by copies of `state`; with an empty list they begin anew. Throws BadInput
  // unless it has every parameter with its shape and dtype; other names are ignored.
  void LoadState(const std::vector<NamedTensor>& state);

  // Exchanges the values of weights and averages; does nothing before the first Update.
  void Swap();

 private:
  std::vector<NamedVariable> parameters_;
  std::vector<Tensor> averages_;  // empty before the first Update
  double decay_;
};

}  // namespace torus::parallel
