// Batch norm's reductions over many rows, and the per-channel values computed from them.
//
// Blocks are summed in the data's type while they are in cache, and merged in double, so a float
// result is as accurate as for one block of 256 rows, whatever the number of rows. Parts (PartsOf)
// are merged in order; up to 16 threads the number of rows alone decides them, so the bits do not
// depend on the team size.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/batch_norm/cpu/norm_rows.h"
#include "ops/cpu/sum_parts.h"

namespace torus::cpu {

// Count, mean and sum of squared deviations of each channel.
class ChannelMoments {
 public:
  explicit ChannelMoments(int64_t channels) : mean_(channels), m2_(channels) {}
  // Adds contiguous rows. Sums deviations from the mean so far, which avoids cancellation, then
  // merges by Chan, Golub & LeVeque 1983, equation 2.1b.
  template <class T>
  void Add(const T* z, int64_t rows);
  void Merge(const ChannelMoments& other);

  int64_t count() const { return count_; }
  const std::vector<double>& mean() const { return mean_; }
  // Biased variance of channel c.
  double variance(int64_t c) const { return m2_[c] / static_cast<double>(count_); }

 private:
  void MergeChannel(int64_t c, double mean, double m2, double count);
  int64_t count_ = 0;
  std::vector<double> mean_, m2_;
};

// The backward's two sums per channel: of g and of g (z - mean).
class GradientSums {
 public:
  explicit GradientSums(int64_t channels) : g(channels), gd(channels) {}
  // Adds MaskedSums over contiguous rows, block by block.
  template <class T>
  void Add(const T* dy, const T* z, const T* y, int64_t rows, const Affine<T>& affine,
           const Clamp& clamp, T* masked);
  void Merge(const GradientSums& other);

  std::vector<double> g, gd;
};

// A normalisation with its statistics folded in; owns the arrays that Affine points to.
template <class T>
struct Folded {
  std::vector<T> mean, scale, bias;
  std::vector<double> inv_std;
  Affine<T> affine() const { return {mean.data(), scale.data(), bias.data()}; }
};

// Folds `channels` statistics into the formula of norm_rows.h; `weight` and `bias` may be null
// (ones and zeros).
template <class T>
void Fold(int64_t channels, const double* mean, const double* variance, double eps, const T* weight,
          const T* bias, T* out_mean, T* out_scale, T* out_bias, double* inv_std);
template <class T>
Folded<T> Fold(const std::vector<double>& mean, const std::vector<double>& variance, double eps,
               const T* weight, const T* bias);

// Slope and offset of BackwardAffine if the statistics are those of the batch (`count` rows); zeros
// if they are constants (count 0). FoldBackward also writes the gradients of weight and bias,
// unless null.
template <class T>
struct FoldedBackward {
  std::vector<T> slope, offset;
  BackwardAffine<T> affine(const Folded<T>& forward) const {
    return {forward.affine(), slope.data(), offset.data()};
  }
};
template <class T>
FoldedBackward<T> FoldBackward(const Affine<T>& forward, const double* inv_std,
                               const GradientSums& sums, int64_t count, T* grad_weight,
                               T* grad_bias);

// The number of parts into which `rows` rows are divided, of at least 64 rows each.
inline int64_t PartsOf(int64_t rows) {
  return rows >= 4096 ? SumParts(rows / 256) : rows >= 256 ? 4 : 1;
}

}  // namespace torus::cpu
