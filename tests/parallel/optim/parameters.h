// Parameters and gradients for the optimizers' tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "autograd/variable.h"
#include "parallel/optim/optimizer.h"
#include "runtime/parallel_for.h"
#include "runtime/rng.h"
#include "tests/testing/twins.h"

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

// Runs further steps of an optimizer of one parameter and returns its values.
inline std::vector<float> GoOn(Optimizer& optimizer, NamedVariable& p, uint64_t first,
                               uint64_t steps) {
  for (uint64_t step = first; step < first + steps; ++step) {
    SetNormalGradient(p, step);
    optimizer.Step(0.1);
  }
  return ToVector<float>(p.value.data());
}

// Parameters of many sizes, and all their elements after two steps of the optimizer that `make`
// gives them.
template <class Make>
std::vector<float> TwoSteps(const Make& make) {
  std::vector<NamedVariable> parameters;
  for (const int64_t size : {1, 0, 70001, 3, 17, 40000, 8, 0})
    parameters.push_back(
        NormalParameter(std::to_string(parameters.size()), size, parameters.size()));
  const auto optimizer = make(parameters);
  for (uint64_t step = 0; step < 2; ++step) {
    for (NamedVariable& p : parameters) SetNormalGradient(p, 77 + step);
    optimizer->Step(0.1);
  }
  std::vector<float> all;
  for (const NamedVariable& p : parameters)
    for (const float v : ToVector<float>(p.value.data())) all.push_back(v);
  return all;
}

// `same_bits` says of the vector width that is set whether it gives the bits of the others.
template <class Make, class SameBits>
void ExpectSameBitsWhateverTheTeamAndTheVectorWidth(const Make& make, const SameBits& same_bits) {
  const int before = TeamSize();
  SetTeamSize(1);
  const std::vector<float> alone = TwoSteps(make);
  for (const int team : {2, 3, 5}) {
    SetTeamSize(team);
    EXPECT_EQ(TwoSteps(make), alone) << team << " threads";
  }
  SetTeamSize(before);
  testing::ForEachVectorWidth([&] {
    if (same_bits()) {
      EXPECT_EQ(TwoSteps(make), alone);
    }
  });
}

}  // namespace torus::parallel
