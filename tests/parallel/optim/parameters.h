// Parameters and gradients for the optimizers' tests.
#pragma once

#include <string>
#include <vector>

#include "autograd/variable.h"
#include "runtime/rng.h"

namespace torus::parallel {

template <class T>
std::vector<T> Normal(int64_t count, uint64_t seed) {
  const RandomStream stream({.seed = seed});
  std::vector<T> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<T>(stream.Normal(i));
  return values;
}

template <class T = float>
Variable Leaf(const std::vector<T>& values) {
  return Variable(FromVector(values, {static_cast<int64_t>(values.size())}), true);
}

template <class T = float>
NamedVariable NormalParameter(const std::string& name, int64_t count, uint64_t seed) {
  return {name, Leaf(Normal<T>(count, seed))};
}

template <class T = float>
void SetNormalGradient(NamedVariable& parameter, uint64_t seed) {
  parameter.value.SetGrad(
      FromVector(Normal<T>(parameter.value.numel(), seed), parameter.value.shape()));
}

}  // namespace torus::parallel
