#include "parallel/optim/gradient_norm.h"

#include <cmath>
#include <numeric>

#include "parallel/optim/kernels.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// Does not wait for a GPU.
Tensor SquaresOf(const std::vector<Tensor>& gradients) {
  Tensor sums = OneForEachBlock(gradients, DType::kF64);
  if (sums.numel() > 0) kernels::SquaredBlockNorms(gradients, sums);
  return sums;
}

}  // namespace

std::vector<double> SquaredBlockNorms(const Tensor& gradient) {
  return ToVector<double>(SquaresOf({gradient}));
}

Tensor StartSquaredNorms(const std::vector<NamedVariable>& parameters) {
  std::vector<Tensor> gradients;
  for (const NamedVariable& parameter : parameters)
    if (parameter.value.grad().defined()) gradients.push_back(parameter.value.grad().Contiguous());
  return SquaresOf(gradients);
}

std::vector<double> SquaredNormsFrom(const Tensor& started,
                                     const std::vector<NamedVariable>& parameters) {
  const std::vector<double> blocks = ToVector<double>(started);
  std::vector<double> squares;
  auto next = blocks.begin();
  for (const NamedVariable& parameter : parameters) {
    const Tensor& gradient = parameter.value.grad();
    const auto end = next + (gradient.defined() ? NormBlocks(gradient.numel()) : 0);
    squares.push_back(std::accumulate(next, end, 0.0));
    next = end;
  }
  return squares;
}

std::vector<double> SquaredGradientNorms(const std::vector<NamedVariable>& parameters) {
  return SquaredNormsFrom(StartSquaredNorms(parameters), parameters);
}

double GlobalNorm(std::span<const double> squares) {
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

double GradientNorm(const std::vector<NamedVariable>& parameters) {
  return GlobalNorm(SquaredGradientNorms(parameters));
}

double ClipScale(double norm, double max_norm) {
  Require(max_norm > 0, "clip", "the largest norm must be above 0, got {}", max_norm);
  const double scale = max_norm / (norm + 1e-6);
  return scale > 1 ? 1 : scale;
}

}  // namespace torus::parallel
