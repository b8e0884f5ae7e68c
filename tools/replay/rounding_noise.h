// Measures how far rounding may move the gradients of a model, by adding noise of that size.
//
// Rounding is a random perturbation (Parker 1997, "Monte Carlo arithmetic"). If a model has kinks
// (ReLU, a maximum), rounding changes a gradient by whole terms: an activation within rounding of a
// kink may be masked by one framework and not by another. A small model usually has no such
// activation; MobileNetV2 at 224 x 224 has hundreds. So their effect is measured: weights get noise
// of the size of rounding errors, and gradients are computed with this noise and with its negative.
// An activation within the noise of a kink then falls on the other side in one of the two runs.
// There are two such pairs, because one may miss a kink that matters, such as one of a late layer
// with few activations.
//
// Size of the noise. A sum of n terms of random sign, added one by one, has a relative error of
// sqrt(n / 6) u, u = eps / 2 (each addition has a uniform error within +-u of its partial sum).
// Both frameworks add in at least eight lanes: sqrt(n / 48) u. The following operations (batch
// norm, bias, activation, storing) round a few times more, together by about 2 u. For two
// frameworks and two standard deviations that makes a relative noise in a weight of 2 sqrt(2)
// sqrt(4 + n / 48) u = eps sqrt(8 + n / 24), which moves the sum of the n terms by as much.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/nn/module.h"

namespace torus::replay {

// The weight's values plus the noise times `sign`. Each `step` uses other elements of the same
// random stream.
Tensor WithNoise(const NamedVariable& weight, double sign, uint64_t step = 0);

class RoundingNoise {
 public:
  // `run` leaves gradients in the model's parameters, from the same batch each time. It is called
  // once for each noise, first for the two of the first pair. Afterwards the model, which must be
  // f32, is as before, including running statistics, but without gradients.
  RoundingNoise(const nn::Module& model, const std::function<void()>& run);

  // The largest norm of the change by noise, where `gradient` is that of parameter `name` without
  // noise.
  double Distance(const std::string& name, const Tensor& gradient) const;
  // How far the noise changed the common scale of all gradients: the largest magnitude of
  // MedianExcess.
  double Excess(const std::map<std::string, Tensor>& gradients) const;
  // Norm of the difference of buffer `name` between the two runs of the first pair: twice the
  // noise.
  double BufferDistance(const std::string& name) const;

 private:
  static constexpr uint64_t kPairs = 2;
  void RunWithNoise(const nn::Module& model, const std::function<void()>& run, double sign,
                    uint64_t pair);

  // Of each run, by name.
  std::vector<std::map<std::string, Tensor>> gradients_, buffers_;
};

}  // namespace torus::replay
