#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "ops/batch_norm/channel_functors.h"
#include "ops/batch_norm/cpu/channel_sums.h"
#include "ops/batch_norm/kernels.h"
#include "ops/cpu/elements.h"
#include "runtime/kernels.h"
#include "runtime/parallel_for.h"
#include "runtime/rows.h"

namespace torus::cpu {

using ops::ChannelAffine;
using ops::NormBackwardInputs;
using ops::NormGradients;

namespace {

// Calls body(part, begin, end) for the fixed parts of the rows, on the team.
template <class Body>
void OverParts(int64_t rows, const Body& body) {
  const int64_t parts = PartsOf(rows);
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) body(p, rows * p / parts, rows * (p + 1) / parts);
  });
}

template <class T>
Affine<T> PointersOf(const ChannelAffine& affine) {
  return {affine.mean.data<T>(), affine.scale.data<T>(), affine.bias.data<T>()};
}

// Writes the masked gradient if it is wanted.
template <class T>
GradientSums SumsOf(const NormBackwardInputs& in, const Tensor& dy, Tensor& masked) {
  const int64_t rows = RowCount(dy), channels = dy.dim(-1);
  std::vector<GradientSums> parts(PartsOf(rows), GradientSums(channels));
  const T *x = in.x.data<T>(), *y = ElementsOrNull<T>(in.y), *from = dy.data<T>();
  T* const out = MutableElementsOrNull<T>(masked);
  const Affine<T> affine = PointersOf<T>(in.affine);
  const Clamp clamp = ClampOf(in.activation);
  OverParts(rows, [&](int64_t part, int64_t begin, int64_t end) {
    const int64_t at = begin * channels;
    parts[part].Add(from + at, x + at, y == nullptr ? nullptr : y + at, end - begin, affine, clamp,
                    out == nullptr ? nullptr : out + at);
  });
  for (size_t p = 1; p < parts.size(); ++p) parts[0].Merge(parts[p]);
  return std::move(parts[0]);
}

// Rows of a (2, C) tensor.
GradientSums FromTensor(const Tensor& tensor) {
  const int64_t channels = tensor.dim(1);
  GradientSums sums(channels);
  std::copy_n(tensor.data<double>(), channels, sums.g.data());
  std::copy_n(tensor.data<double>() + channels, channels, sums.gd.data());
  return sums;
}

template <class T>
void InputGradient(const Tensor& x, const Tensor& dy, const BackwardAffine<T>& affine,
                   const Clamp& clamp, Tensor& dx) {
  const int64_t channels = dy.dim(-1);
  const T *in = x.data<T>(), *from = dy.data<T>();
  T* const out = dx.mutable_data<T>();
  OverParts(RowCount(dy), [&](int64_t, int64_t begin, int64_t end) {
    const int64_t at = begin * channels;
    BackwardInput(from + at, in + at, end - begin, channels, affine, clamp, out + at);
  });
}

}  // namespace

Clamp ClampOf(ops::Activation activation) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (activation == ops::Activation::kNone) return {};
  return {0, activation == ops::Activation::kRelu ? infinity : 6};
}

void ChannelStatistics(const Tensor& x, Tensor& mean, Tensor& var) {
  VisitCompute("batch_norm", x.dtype(), [&]<class T>(ComputeType<T>) {
    const int64_t rows = RowCount(x), channels = x.dim(-1);
    std::vector<ChannelMoments> parts(PartsOf(rows), ChannelMoments(channels));
    const T* const in = x.data<T>();
    OverParts(rows, [&](int64_t part, int64_t begin, int64_t end) {
      parts[part].Add(in + begin * channels, end - begin);
    });
    for (size_t p = 1; p < parts.size(); ++p) parts[0].Merge(parts[p]);
    std::copy_n(parts[0].mean().data(), channels, mean.mutable_data<double>());
    double* const v = var.mutable_data<double>();
    for (int64_t c = 0; c < channels; ++c) v[c] = parts[0].variance(c);
  });
}

void FoldChannels(const Tensor& mean, const Tensor& var, double eps, const Tensor& weight,
                  const Tensor& bias, ChannelAffine& affine) {
  VisitCompute("batch_norm", affine.mean.dtype(), [&]<class T>(ComputeType<T>) {
    Fold(mean.numel(), mean.data<double>(), var.data<double>(), eps, ElementsOrNull<T>(weight),
         ElementsOrNull<T>(bias), affine.mean.mutable_data<T>(), affine.scale.mutable_data<T>(),
         affine.bias.mutable_data<T>(), affine.inv_std.mutable_data<double>());
  });
  Copy(var, affine.var);
}

void FoldStatistics(const Tensor& x, double eps, const Tensor& weight, const Tensor& bias,
                    ChannelAffine& affine) {
  Tensor mean({x.dim(-1)}, DType::kF64), var({x.dim(-1)}, DType::kF64);
  ChannelStatistics(x, mean, var);
  FoldChannels(mean, var, eps, weight, bias, affine);
}

void NormalizeChannels(const Tensor& x, const ChannelAffine& affine, ops::Activation activation,
                       const Tensor& residual, Tensor& y) {
  VisitCompute("batch_norm", x.dtype(), [&]<class T>(ComputeType<T>) {
    const int64_t channels = x.dim(-1);
    const T *in = x.data<T>(), *add = ElementsOrNull<T>(residual);
    T* const out = y.mutable_data<T>();
    const Affine<T> pointers = PointersOf<T>(affine);
    const Clamp clamp = ClampOf(activation);
    OverParts(RowCount(x), [&](int64_t, int64_t begin, int64_t end) {
      const int64_t at = begin * channels;
      Normalize(in + at, end - begin, channels, pointers, clamp,
                add == nullptr ? nullptr : add + at, out + at);
    });
  });
}

void SumGradients(const NormBackwardInputs& in, const Tensor& dy, Tensor& masked, Tensor& sums) {
  VisitCompute("batch_norm", dy.dtype(), [&]<class T>(ComputeType<T>) {
    const GradientSums found = SumsOf<T>(in, dy, masked);
    double* const to = sums.mutable_data<double>();
    std::copy(found.gd.begin(), found.gd.end(), std::copy(found.g.begin(), found.g.end(), to));
  });
}

void NormalizeChannelsBackward(const NormBackwardInputs& in, const Tensor& dy,
                               const Tensor& own_sums, const Tensor& all_sums, NormGradients& out) {
  VisitCompute("batch_norm", dy.dtype(), [&]<class T>(ComputeType<T>) {
    const Affine<T> forward = PointersOf<T>(in.affine);
    const double* const inv_std = in.affine.inv_std.data<double>();
    FoldBackward<T>(forward, inv_std, FromTensor(own_sums), 0, MutableElementsOrNull<T>(out.weight),
                    MutableElementsOrNull<T>(out.bias));
    if (!out.x.defined()) return;
    const FoldedBackward<T> folded =
        FoldBackward<T>(forward, inv_std, FromTensor(all_sums), in.count, nullptr, nullptr);
    const bool constant = in.count == 0;
    const BackwardAffine<T> affine{forward, constant ? nullptr : folded.slope.data(),
                                   constant ? nullptr : folded.offset.data()};
    if (out.masked.defined())
      InputGradient(in.x, out.masked, affine, Clamp{}, out.x);
    else
      InputGradient(in.x, dy, affine, ClampOf(in.activation), out.x);
  });
}

void BatchNormBackward(const NormBackwardInputs& in, const Tensor& dy, NormGradients& out) {
  Tensor sums({2, dy.dim(-1)}, DType::kF64);
  SumGradients(in, dy, out.masked, sums);
  NormalizeChannelsBackward(in, dy, sums, sums, out);
}

void UpdateRunningStatistics(std::vector<ops::RunningUpdate>& updates) {
  for (ops::RunningUpdate& u : updates) {
    if (u.batches.defined()) ++*u.batches.mutable_data<int64_t>();
    VisitCompute("batch_norm", u.running_mean.dtype(), [&]<class T>(ComputeType<T>) {
      const Tensor batch_mean = u.mean.To(DType::kF64), batch_var = u.var.To(DType::kF64);
      const double *m = batch_mean.data<double>(), *v = batch_var.data<double>();
      T *rm = u.running_mean.mutable_data<T>(), *rv = u.running_var.mutable_data<T>();
      for (int64_t c = 0; c < u.mean.numel(); ++c) {
        rm[c] = ops::MovedAverage(rm[c], u.momentum, m[c], 1);
        rv[c] = ops::MovedAverage(rv[c], u.momentum, v[c], u.unbias);
      }
    });
  }
}

}  // namespace torus::cpu
