#include "ops/batch_norm/cpu/channel_sums.h"

#include <algorithm>

#include "ops/batch_norm/channel_functors.h"
#include "runtime/error.h"

namespace torus::cpu {
namespace {
constexpr int64_t kBlock = 256;  // rows summed in the data's own type
}

void ChannelMoments::MergeChannel(int64_t c, double mean, double m2, double count) {
  const ops::Moments merged =
      ops::MergedMoments({mean_[c], m2_[c]}, static_cast<double>(count_), {mean, m2}, count);
  mean_[c] = merged.mean;
  m2_[c] = merged.m2;
}

template <class T>
void ChannelMoments::Add(const T* z, int64_t rows) {
  const int64_t channels = static_cast<int64_t>(mean_.size());
  std::vector<T> center(channels), sum(channels), sum_sq(channels);
  for (int64_t begin = 0; begin < rows; begin += kBlock) {
    const int64_t block = std::min(kBlock, rows - begin);
    const T* data = z + begin * channels;
    for (int64_t c = 0; c < channels; ++c)
      center[c] = count_ == 0 ? data[c] : static_cast<T>(mean_[c]);
    CenteredSums(data, block, channels, center.data(), sum.data(), sum_sq.data());
    const double n = static_cast<double>(block);
    for (int64_t c = 0; c < channels; ++c) {
      const double shift = sum[c] / n;
      MergeChannel(c, center[c] + shift, std::max(0.0, sum_sq[c] - shift * sum[c]), n);
    }
    count_ += block;
  }
}

void ChannelMoments::Merge(const ChannelMoments& other) {
  if (other.count_ == 0) return;
  for (size_t c = 0; c < mean_.size(); ++c)
    MergeChannel(static_cast<int64_t>(c), other.mean_[c], other.m2_[c],
                 static_cast<double>(other.count_));
  count_ += other.count_;
}

template <class T>
void GradientSums::Add(const T* dy, const T* z, const T* y, int64_t rows, const Affine<T>& affine,
                       const Clamp& clamp, T* masked) {
  const int64_t channels = static_cast<int64_t>(g.size());
  std::vector<T> sum_g(channels), sum_gd(channels);
  for (int64_t begin = 0; begin < rows; begin += kBlock) {
    const int64_t at = begin * channels;
    MaskedSums(dy + at, z + at, y == nullptr ? nullptr : y + at, std::min(kBlock, rows - begin),
               channels, affine, clamp, masked == nullptr ? nullptr : masked + at, sum_g.data(),
               sum_gd.data());
    for (int64_t c = 0; c < channels; ++c) {
      g[c] += sum_g[c];
      gd[c] += sum_gd[c];
    }
  }
}

void GradientSums::Merge(const GradientSums& other) {
  for (size_t c = 0; c < g.size(); ++c) {
    g[c] += other.g[c];
    gd[c] += other.gd[c];
  }
}

template <class T>
void Fold(int64_t channels, const double* mean, const double* variance, double eps, const T* weight,
          const T* bias, T* out_mean, T* out_scale, T* out_bias, double* inv_std) {
  for (int64_t c = 0; c < channels; ++c) {
    inv_std[c] = ops::InverseStd(variance[c], eps);
    out_mean[c] = static_cast<T>(mean[c]);
    out_scale[c] = static_cast<T>((weight == nullptr ? 1.0 : weight[c]) * inv_std[c]);
    out_bias[c] = bias == nullptr ? T(0) : bias[c];
  }
}

template <class T>
Folded<T> Fold(const std::vector<double>& mean, const std::vector<double>& variance, double eps,
               const T* weight, const T* bias) {
  const size_t channels = mean.size();
  Folded<T> out{std::vector<T>(channels), std::vector<T>(channels), std::vector<T>(channels),
                std::vector<double>(channels)};
  Fold(std::ssize(mean), mean.data(), variance.data(), eps, weight, bias, out.mean.data(),
       out.scale.data(), out.bias.data(), out.inv_std.data());
  return out;
}

template <class T>
FoldedBackward<T> FoldBackward(const Affine<T>& forward, const double* inv_std,
                               const GradientSums& sums, int64_t count, T* grad_weight,
                               T* grad_bias) {
  const size_t channels = sums.g.size();
  FoldedBackward<T> out{std::vector<T>(channels), std::vector<T>(channels)};
  for (size_t c = 0; c < channels; ++c) {
    if (grad_weight != nullptr) grad_weight[c] = static_cast<T>(sums.gd[c] * inv_std[c]);
    if (grad_bias != nullptr) grad_bias[c] = static_cast<T>(sums.g[c]);
    const auto line =
        ops::GradientLineOf(forward.scale[c], inv_std[c], sums.g[c], sums.gd[c], count);
    out.slope[c] = line.slope;
    out.offset[c] = line.offset;
  }
  return out;
}

#define TORUS_INSTANTIATE(T)                                                                    \
  template void ChannelMoments::Add(const T*, int64_t);                                         \
  template void GradientSums::Add(const T*, const T*, const T*, int64_t, const Affine<T>&,      \
                                  const Clamp&, T*);                                            \
  template void Fold(int64_t, const double*, const double*, double, const T*, const T*, T*, T*, \
                     T*, double*);                                                              \
  template Folded<T> Fold(const std::vector<double>&, const std::vector<double>&, double,       \
                          const T*, const T*);                                                  \
  template FoldedBackward<T> FoldBackward(const Affine<T>&, const double*, const GradientSums&, \
                                          int64_t, T*, T*);
TORUS_INSTANTIATE(float)
TORUS_INSTANTIATE(double)
#undef TORUS_INSTANTIATE

}  // namespace torus::cpu
