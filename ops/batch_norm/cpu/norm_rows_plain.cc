// The double kernels: direct implementations of the formulas of norm_rows.h.
#include <algorithm>

#include "ops/batch_norm/cpu/norm_rows.h"

namespace torus::cpu {
namespace {

bool Passes(const Clamp& clamp, double t) {
  return clamp.identity() || (clamp.low < t && t < clamp.high);
}

}  // namespace

void CenteredSums(const double* z, int64_t rows, int64_t channels, const double* center,
                  double* sum, double* sum_sq) {
  std::fill(sum, sum + channels, 0.0);
  std::fill(sum_sq, sum_sq + channels, 0.0);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < channels; ++c) {
      const double d = z[r * channels + c] - center[c];
      sum[c] += d;
      sum_sq[c] += d * d;
    }
  }
}

void Normalize(const double* z, int64_t rows, int64_t channels, const Affine<double>& affine,
               const Clamp& clamp, const double* residual, double* y) {
  for (int64_t i = 0; i < rows * channels; ++i) {
    const int64_t c = i % channels;
    double t = (z[i] - affine.mean[c]) * affine.scale[c] + affine.bias[c];
    if (residual != nullptr) t += residual[i];
    y[i] = t < clamp.low ? clamp.low : t > clamp.high ? clamp.high : t;
  }
}

void MaskedSums(const double* dy, const double* z, const double* y, int64_t rows, int64_t channels,
                const Affine<double>& affine, const Clamp& clamp, double* g, double* sum_g,
                double* sum_gd) {
  std::fill(sum_g, sum_g + channels, 0.0);
  std::fill(sum_gd, sum_gd + channels, 0.0);
  for (int64_t i = 0; i < rows * channels; ++i) {
    const int64_t c = i % channels;
    const double d = z[i] - affine.mean[c];
    const double t = y != nullptr ? y[i] : d * affine.scale[c] + affine.bias[c];
    const double grad = Passes(clamp, t) ? dy[i] : 0.0;
    sum_g[c] += grad;
    sum_gd[c] += grad * d;
    if (g != nullptr) g[i] = grad;
  }
}

void BackwardInput(const double* dy, const double* z, int64_t rows, int64_t channels,
                   const BackwardAffine<double>& affine, const Clamp& clamp, double* dz) {
  const Affine<double>& forward = affine.forward;
  for (int64_t i = 0; i < rows * channels; ++i) {
    const int64_t c = i % channels;
    const double d = z[i] - forward.mean[c];
    const double g = Passes(clamp, d * forward.scale[c] + forward.bias[c]) ? dy[i] : 0.0;
    dz[i] = forward.scale[c] * g;
    if (affine.slope != nullptr) dz[i] += affine.slope[c] * d + affine.offset[c];
  }
}

}  // namespace torus::cpu
