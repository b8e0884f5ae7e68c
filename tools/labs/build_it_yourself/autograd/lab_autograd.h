// Lab "autograd": an op and its gradient, side by side: layer normalization (Ba, Kiros and Hinton
// 2016, "Layer normalization"). You write LayerNorm.
//
// x has rows of `width` values. For each row
//   mean = sum of x / width, variance = sum of (x - mean)^2 / width
//   normalized = (x - mean) / sqrt(variance + kEpsilon)
//   y = gamma normalized + beta
// LayerNorm returns its backward: a function that takes the gradient of the loss with respect to y,
// and adds the gradients with respect to x, gamma and beta to the spans it is given. What is
// graded:
//   values     y and all gradients, also if the mean is much larger than the deviation
//   addition   gradients are added, not assigned: x may have other uses in the model
//   wanted     if a span of Gradients is empty, that gradient is not wanted
//   own data   when the backward runs, x, gamma, beta and y may be gone. It may run twice, and
//              several backwards may exist at once
//   memory     a backward keeps at most as much as x, gamma and two numbers per row, and 1024 bytes
//   leak       nothing stays allocated when the backward is gone
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace lab {

constexpr float kEpsilon = 1e-5F;

struct Gradients {
  std::span<float> x, gamma, beta;  // as long as x, gamma, beta; or empty: not wanted
};
using Backward = std::function<void(std::span<const float> y_gradient, Gradients to)>;

// x.size() is a multiple of `width`, possibly 0. y is as long as x; gamma and beta have `width`
// values.
Backward LayerNorm(size_t width, std::span<const float> x, std::span<const float> gamma,
                   std::span<const float> beta, std::span<float> y);

}  // namespace lab
