// Lab "autograd": an op with its gradient beside it: layer normalization (Ba, Kiros and Hinton
// 2016, "Layer normalization"). You write LayerNorm.
//
// x has rows of `width` values; of each row
//   mean = sum of x / width, variance = sum of (x - mean)^2 / width
//   normalized = (x - mean) / sqrt(variance + kEpsilon)
//   y = gamma normalized + beta
// The call returns its backward, which is given the loss's gradient by y and adds those by x, gamma
// and beta to what it is handed. What is graded:
//   values     of y and of all gradients, also where the mean is large beside the deviation
//   addition   gradients are added, not set: x may be used elsewhere too
//   wanted     where a span of Gradients is empty, that gradient is not wanted
//   own data   when the backward runs, x, gamma, beta and y are gone; it may run twice, and many
//              may be alive at once
//   memory     a backward keeps at most as much as x and gamma, and two numbers a row
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace lab {

constexpr float kEpsilon = 1e-5F;

struct Gradients {
  std::span<float> x, gamma, beta;  // of the sizes of x, gamma, beta; or empty: not wanted
};
using Backward = std::function<void(std::span<const float> y_gradient, Gradients to)>;

// x.size() is a multiple of width, also 0; y has as many values. gamma and beta have `width` each.
Backward LayerNorm(size_t width, std::span<const float> x, std::span<const float> gamma,
                   std::span<const float> beta, std::span<float> y);

}  // namespace lab
