// Batch norm's arithmetic for one channel, shared by CPU and GPU kernels. All in f64, except values
// stored as T.
#pragma once

#include <cmath>
#include <cstdint>

#include "runtime/host_device.h"

namespace torus::ops {

// Mean and sum of squared deviations (m2) of some values of a channel.
struct Moments {
  double mean = 0, m2 = 0;
};

// Merges the moments of `before` values and of `count` more (Chan, Golub & LeVeque 1983, equation
// 2.1b).
TORUS_HOST_DEVICE inline Moments MergedMoments(const Moments& a, double before, const Moments& more,
                                               double count) {
  const double total = before + count, delta = more.mean - a.mean;
  return {a.mean + delta * count / total,
          a.m2 + (more.m2 + delta * delta * before * count / total)};
}

// The same for mean and biased variance: `more` values are merged into `count` values.
TORUS_HOST_DEVICE inline void MergeVariance(double more_mean, double more_var, double more,
                                            double count, double& mean, double& var) {
  const double n = count + more, delta = more_mean - mean;
  const double squares = var * count + more_var * more;
  mean += delta * (more / n);
  var = (squares + delta * delta * (count * more / n)) / n;
}

// running = (1 - momentum) running + momentum batch factor
template <class T>
TORUS_HOST_DEVICE T MovedAverage(T running, double momentum, double batch, double factor) {
  return static_cast<T>((1 - momentum) * running + momentum * batch * factor);
}

TORUS_HOST_DEVICE inline double InverseStd(double variance, double eps) {
  return 1.0 / std::sqrt(variance + eps);
}

// Coefficients of the input's gradient, computed from the sums: dx = scale g + slope (x - mean) +
// offset, for statistics of `count` values (Ioffe & Szegedy 2015, the gradients after equation 4).
template <class T>
struct GradientLine {
  T slope, offset;
};

// sum_g is the sum of the masked gradient g, sum_gd that of g (x - mean). Both coefficients are
// zero for constant statistics (count 0).
template <class T>
TORUS_HOST_DEVICE GradientLine<T> GradientLineOf(T scale, double inv_std, double sum_g,
                                                 double sum_gd, int64_t count) {
  if (count == 0) return {T(0), T(0)};
  const double factor = -static_cast<double>(scale) / static_cast<double>(count);
  return {static_cast<T>(factor * inv_std * inv_std * sum_gd), static_cast<T>(factor * sum_g)};
}

}  // namespace torus::ops
