// Row-block kernels of batch norm over channels-last data, single-threaded: the op runs them over
// its rows, and fused convolutions over blocks that are still in cache.
//
// A block is `rows` x `channels`, rows contiguous. With c the channel, m the mean and s = weight *
// inv_std,
//   t = (z - m[c]) * s[c] + bias[c] (+ residual),   y = min(max(t, low), high)
// ReLU6 is low 0 and high 6, ReLU is low 0 and high infinity, no activation is both infinite. NaN
// goes through.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace torus::cpu {

// An activation that clamps; its gradient is 1 strictly between the bounds and 0 elsewhere, as
// PyTorch's hardtanh.
struct Clamp {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool identity() const { return low == -high && high == std::numeric_limits<double>::infinity(); }
};

// Per-channel affine of the formula above; the pointers have `channels` elements.
template <class T>
struct Affine {
  const T* mean;
  const T* scale;
  const T* bias;
};

// What the gradient by z needs beside Affine: dz = scale g + slope (z - mean) + offset, where g is
// the gradient by t (Ioffe & Szegedy 2015, the gradients after equation 4, with their sums folded
// into slope and offset).
template <class T>
struct BackwardAffine {
  Affine<T> forward;
  const T* slope;
  const T* offset;
};

// sum[c] = sum over rows of d, sum_sq[c] = of d^2, where d = z - center[c]. Overwrites.
void CenteredSums(const float* z, int64_t rows, int64_t channels, const float* center, float* sum,
                  float* sum_sq);
void CenteredSums(const double* z, int64_t rows, int64_t channels, const double* center,
                  double* sum, double* sum_sq);

// y of the formula; `residual` may be null; y may be z or residual.
void Normalize(const float* z, int64_t rows, int64_t channels, const Affine<float>& affine,
               const Clamp& clamp, const float* residual, float* y);
void Normalize(const double* z, int64_t rows, int64_t channels, const Affine<double>& affine,
               const Clamp& clamp, const double* residual, double* y);

// g = dy where low < t < high, else 0, with t recomputed from z, or y in its stead where given (a
// residual was added). Writes g unless null (it may be dy) and overwrites sum_g[c] = sum of g and
// sum_gd[c] = sum of g (z - mean[c]).
void MaskedSums(const float* dy, const float* z, const float* y, int64_t rows, int64_t channels,
                const Affine<float>& affine, const Clamp& clamp, float* g, float* sum_g,
                float* sum_gd);
void MaskedSums(const double* dy, const double* z, const double* y, int64_t rows, int64_t channels,
                const Affine<double>& affine, const Clamp& clamp, double* g, double* sum_g,
                double* sum_gd);

// dz of BackwardAffine, with g masked from dy as above (t recomputed from z); give an identity
// clamp where dy is masked already. dz may be dy.
void BackwardInput(const float* dy, const float* z, int64_t rows, int64_t channels,
                   const BackwardAffine<float>& affine, const Clamp& clamp, float* dz);
void BackwardInput(const double* dy, const double* z, int64_t rows, int64_t channels,
                   const BackwardAffine<double>& affine, const Clamp& clamp, double* dz);

}  // namespace torus::cpu
