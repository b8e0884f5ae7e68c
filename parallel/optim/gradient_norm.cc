#include "parallel/optim/gradient_norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "runtime/error.h"
#include "runtime/parallel_for.h"

namespace torus::parallel {
namespace {

constexpr int kLanes = 8;

// Eight sums side by side, which the compiler makes a vector of.
template <class T>
double SumOfSquares(const T* values, int64_t count) {
  std::array<double, kLanes> sums{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      const double v = static_cast<double>(values[i + lane]);
      sums[lane] += v * v;
    }
  for (int lane = 0; i < count; ++i, ++lane) {
    const double v = static_cast<double>(values[i]);
    sums[lane] += v * v;
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

double SquaredNorm(const Tensor& gradient) {
  const std::vector<double> sums = SquaredBlockNorms(gradient);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

std::vector<double> SquaredBlockNorms(const Tensor& gradient) {
  const int64_t count = gradient.numel();
  std::vector<double> sums((count + kNormBlock - 1) / kNormBlock);
  VisitCompute("clip", gradient.dtype(), [&]<class T>(ComputeType<T>) {
    const auto* values = gradient.data<T>();
    ParallelFor(static_cast<int64_t>(sums.size()), 4, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        sums[b] =
            SumOfSquares(values + b * kNormBlock, std::min(kNormBlock, count - b * kNormBlock));
    });
  });
  return sums;
}

std::vector<double> SquaredGradientNorms(const std::vector<NamedVariable>& parameters) {
  std::vector<double> squares;
  for (const NamedVariable& parameter : parameters) {
    const Tensor& gradient = parameter.value.grad();
    squares.push_back(gradient.defined() ? SquaredNorm(gradient.Contiguous()) : 0.0);
  }
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
