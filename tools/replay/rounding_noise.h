// How far rounding may move the gradients of a model, found by letting it.
//
// Rounding is a random perturbation (Parker 1997, "Monte Carlo arithmetic"). Where a model has
// kinks (ReLU, a maximum) it moves a gradient by whole terms: an activation that lies within
// rounding of a kink may be masked by one framework and not by another. In a small model most often
// none does, in MobileNetV2 at 224 x 224 hundreds do; so they are not assumed but provoked. Weights
// get noise of the size that rounding has, and gradients are taken with it and with its negative:
// what lies within the noise of a kink falls to the other side under one of the two. Two such
// pairs: one may miss a kink that counts, such as that of a late layer with few places.
//
// Size of the noise. A sum of n terms of random sign, added up one by one, errs by sqrt(n / 6) u of
// its size, u = eps / 2 (each addition by a uniform error in +-u of its partial sum). Both
// frameworks add in eight lanes at least: sqrt(n / 48) u. What follows (batch norm, bias,
// activation, storing) rounds a few times more, together by about 2 u. Two sides, and two standard
// deviations: relative noise in a weight of 2 sqrt(2) sqrt(4 + n / 48) u = eps sqrt(8 + n / 24),
// which moves the sum of the n by as much.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/nn/module.h"

namespace torus::replay {

// The weight's values with the noise times `sign`; other elements of the same stream for another
// `step`.
Tensor WithNoise(const NamedVariable& weight, double sign, uint64_t step = 0);

class RoundingNoise {
 public:
  // `run` leaves gradients in the model's parameters, from the same batch each time; it is called
  // for each noise, the first pair's two first. The model, of f32, is then as it was, running
  // statistics too, without gradients.
  RoundingNoise(const nn::Module& model, const std::function<void()>& run);

  // Norm of what the noise made of `gradient`, that of parameter `name` without noise: the
  // largest.
  double Distance(const std::string& name, const Tensor& gradient) const;
  // How far the noise moved the scale of all of them: the largest magnitude of a MedianExcess.
  double Excess(const std::map<std::string, Tensor>& gradients) const;
  // Norm of the distance between what the first pair left in buffer `name`: twice the noise.
  double BufferDistance(const std::string& name) const;

 private:
  static constexpr uint64_t kPairs = 2;
  void RunWithNoise(const nn::Module& model, const std::function<void()>& run, double sign,
                    uint64_t pair);

  // Of each run, by name.
  std::vector<std::map<std::string, Tensor>> gradients_, buffers_;
};

}  // namespace torus::replay
