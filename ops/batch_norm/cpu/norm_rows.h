// Single-threaded kernels of batch norm for blocks of rows, channels last. The op runs them on its
// rows, and fused convolutions on blocks that are still in cache.
//
// A block is `rows` x `channels`, rows contiguous. With c the channel, m the mean and s = weight *
// inv_std,
//   t = (z - m[c]) * s[c] + bias[c] (+ residual),   y = min(max(t, low), high)
// ReLU6 is low 0 and high 6, ReLU is low 0 and high infinity, no activation is both infinite. NaN
// passes through.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "ops/batch_norm/activation.h"

namespace torus::cpu {

// An activation that clamps. Its gradient is 1 strictly between the bounds and 0 elsewhere, as in
// PyTorch's hardtanh.
struct Clamp {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool identity() const { return low == -high && high == std::numeric_limits<double>::infinity(); }
};

// The bounds of an activation.
Clamp ClampOf(ops::Activation activation);

// The per-channel coefficients of the formula above; each array has `channels` elements.
template <class T>
struct Affine {
  const T* mean;
  const T* scale;
  const T* bias;
};

// What the gradient with respect to z needs besides Affine: dz = scale g + slope (z - mean) +
// offset, where g is the gradient with respect to t (Ioffe & Szegedy 2015, the gradients after
// equation 4, with their sums folded into slope and offset). For constant statistics both are null:
// dz = scale g, finite also where z is not.
template <class T>
struct BackwardAffine {
  Affine<T> forward;
  const T* slope;
  const T* offset;
};

// sum[c] = sum over rows of d and sum_sq[c] = sum of d^2, where d = z - center[c]. Overwrites.
void CenteredSums(const float* z, int64_t rows, int64_t channels, const float* center, float* sum,
                  float* sum_sq);
void CenteredSums(const double* z, int64_t rows, int64_t channels, const double* center,
                  double* sum, double* sum_sq);

// Computes y of the formula. `residual` may be null; y may be z or residual.
void Normalize(const float* z, int64_t rows, int64_t channels, const Affine<float>& affine,
               const Clamp& clamp, const float* residual, float* y);
void Normalize(const double* z, int64_t rows, int64_t channels, const Affine<double>& affine,
               const Clamp& clamp, const double* residual, double* y);

// g = dy if low < t < high, else 0. t is recomputed from z; if y is given (because a residual was
// added), y is used in place of t. Writes g unless null (g may be dy) and overwrites sum_g[c] = sum
// of g and sum_gd[c] = sum of g (z - mean[c]).
void MaskedSums(const float* dy, const float* z, const float* y, int64_t rows, int64_t channels,
                const Affine<float>& affine, const Clamp& clamp, float* g, float* sum_g,
                float* sum_gd);
void MaskedSums(const double* dy, const double* z, const double* y, int64_t rows, int64_t channels,
                const Affine<double>& affine, const Clamp& clamp, double* g, double* sum_g,
                double* sum_gd);

// Computes dz of BackwardAffine, with g masked from dy as above (t recomputed from z). Pass an
// identity clamp if dy is masked already. dz may be dy.
void BackwardInput(const float* dy, const float* z, int64_t rows, int64_t channels,
                   const BackwardAffine<float>& affine, const Clamp& clamp, float* dz);
void BackwardInput(const double* dy, const double* z, int64_t rows, int64_t channels,
                   const BackwardAffine<double>& affine, const Clamp& clamp, double* dz);

}  // namespace torus::cpu
