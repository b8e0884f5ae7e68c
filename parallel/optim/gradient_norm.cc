#include "parallel/optim/gradient_norm.h"

#include <cmath>
#include <numeric>

#include "parallel/optim/kernels.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

std::vector<double> SquaredBlockNorms(const Tensor& gradient) {
  return kernels::SquaredBlockNorms({gradient}).front();
}

std::vector<double> SquaredGradientNorms(const std::vector<NamedVariable>& parameters) {
  std::vector<Tensor> gradients;
  for (const NamedVariable& parameter : parameters)
    if (parameter.value.grad().defined()) gradients.push_back(parameter.value.grad().Contiguous());
  const std::vector<std::vector<double>> blocks = kernels::SquaredBlockNorms(gradients);
  std::vector<double> squares;
  size_t next = 0;
  for (const NamedVariable& parameter : parameters)
    squares.push_back(parameter.value.grad().defined() ? Sum(blocks[next++]) : 0.0);
  return squares;
}

double GlobalNorm(std::span<const double> squares) {
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

double ClipScale(double norm, double max_norm) {
  Require(max_norm > 0, "clip", "the largest norm must be above 0, got {}", max_norm);
  const double scale = max_norm / (norm + 1e-6);
  return scale > 1 ? 1 : scale;
}

}  // namespace torus::parallel
