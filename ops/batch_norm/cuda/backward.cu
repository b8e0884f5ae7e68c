#include "ops/batch_norm/channel_functors.h"
#include "ops/batch_norm/cuda/batch_norm.h"
#include "runtime/cuda/divide.h"
//
#include "ops/batch_norm/cuda/norm_elements.h"
#include "runtime/cuda/column_sums.h"
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

// The gradient through the activation's mask, which is computed from y if that is given.
template <class T>
struct MaskedGradient {
  BeforeActivation<T> before;
  Bounds<SumOf<T>> bounds;
  const T *dy, *y;  // which may be null
  __device__ SumOf<T> operator()(int64_t i, int64_t c) const {
    const SumOf<T> at = y != nullptr ? Widened(y[i]) : before(i, c);
    return bounds.Passes(at) ? Widened(dy[i]) : SumOf<T>(0);
  }
};

// Sums of rows [part * 64, ...) of channel c: of g at part * 2 * channels + c, and of g (x - mean)
// `channels` elements after it. Writes g if it is wanted.
template <class T>
struct SumsOfRows {
  int64_t rows, channels;
  MaskedGradient<T> gradient;
  T* masked;  // may be null
  double* out;
  __device__ void operator()(int64_t i) const {
    const Divided at = Divide(i, channels);
    const int64_t c = at.rest, first = at.quotient * kColumnRows;
    const int64_t end = first + kColumnRows < rows ? first + kColumnRows : rows;
    using Sum = SumOf<T>;
    const Sum mean = gradient.before.affine.mean[c];
    Sum sum = Sum(0), weighted = Sum(0);
    for (int64_t r = first; r < end; ++r) {
      const int64_t from = r * channels + c;
      const Sum g = gradient(from, c);
      sum += g;
      weighted += g * (Widened(gradient.before.x[from]) - mean);
      if (masked != nullptr) masked[from] = RoundedTo<T>(g);
    }
    out[at.quotient * 2 * channels + c] = static_cast<double>(sum);
    out[(at.quotient * 2 + 1) * channels + c] = static_cast<double>(weighted);
  }
};

// Gradients with respect to weight and bias, from this replica's sums.
template <class T>
struct ParameterGradients {
  int64_t channels;
  const double *inv_std, *sums;
  T *weight, *bias;  // may be null
  __device__ void operator()(int64_t c) const {
    if (weight != nullptr) weight[c] = static_cast<T>(sums[channels + c] * inv_std[c]);
    if (bias != nullptr) bias[c] = static_cast<T>(sums[c]);
  }
};

// Computes the GradientLine of channel c.
template <class T>
struct FoldLines {
  int64_t channels, count;
  const T* scale;
  const double *inv_std, *sums;
  T *slope, *offset;
  __device__ void operator()(int64_t c) const {
    const auto line = ops::GradientLineOf(scale[c], inv_std[c], sums[c], sums[channels + c], count);
    slope[c] = line.slope;
    offset[c] = line.offset;
  }
};

template <class T>
struct InputGradient {
  int64_t channels;
  MaskedGradient<T> gradient;
  const SumOf<T>*slope, *offset;  // null for constant statistics
  T* dx;
  __device__ void operator()(int64_t i) const {
    const int64_t c = Divide(i, channels).rest;
    const AffineOf<SumOf<T>>& forward = gradient.before.affine;
    SumOf<T> line = SumOf<T>(0);
    if (slope != nullptr)
      line = slope[c] * (Widened(gradient.before.x[i]) - forward.mean[c]) + offset[c];
    dx[i] = RoundedTo<T>(forward.scale[c] * gradient(i, c) + line);
  }
};

// dy, or dy already masked.
template <class T>
MaskedGradient<T> GradientOf(const ops::NormBackwardInputs& in, const Tensor& dy,
                             const Tensor& masked) {
  const bool done = masked.defined();
  return {{AffineOf<SumOf<T>>(in.affine), Elements<T>(in.x), nullptr},
          Bounds<SumOf<T>>(done ? ops::Activation::kNone : in.activation),
          Elements<T>(done ? masked : dy),
          nullptr};
}

template <class T>
void WriteInputGradient(const ops::NormBackwardInputs& in, const Tensor& dy, const Tensor& sums,
                        ops::NormGradients& out, StreamHandle stream) {
  using Sum = SumOf<T>;
  const int64_t channels = dy.dim(-1);
  const MaskedGradient<T> gradient = GradientOf<T>(in, dy, out.masked);
  if (in.count == 0)
    return ForEach(
        kNormOp, dy.numel(), stream,
        InputGradient<T>{channels, gradient, nullptr, nullptr, MutableElements<T>(out.x)});
  Tensor slope({channels}, kDTypeOf<Sum>, dy.device()),
      offset(slope.shape(), slope.dtype(), dy.device());
  ForEach(kNormOp, channels, stream,
          FoldLines<Sum>{channels, in.count, Elements<Sum>(in.affine.scale),
                         Elements<double>(in.affine.inv_std), Elements<double>(sums),
                         MutableElements<Sum>(slope), MutableElements<Sum>(offset)});
  ForEach(kNormOp, dy.numel(), stream,
          InputGradient<T>{channels, gradient, Elements<Sum>(slope), Elements<Sum>(offset),
                           MutableElements<T>(out.x)});
}

}  // namespace

void GradientSumsOf(const ops::NormBackwardInputs& in, const Tensor& dy, Tensor& masked,
                    Tensor& sums, StreamHandle stream) {
  const int64_t rows = RowsOf(dy), channels = dy.dim(-1), parts = SumParts(rows, kColumnRows);
  if (channels == 0) return;
  Tensor partial({parts, 2, channels}, DType::kF64, dy.device());
  VisitFloats(kNormOp, dy.dtype(), [&]<class T>(ComputeType<T>) {
    MaskedGradient<T> gradient = GradientOf<T>(in, dy, Tensor());
    gradient.y = ElementsOrNull<T>(in.y);
    gradient.before.residual = ElementsOrNull<T>(in.residual);
    ForEach(kNormOp, parts * channels, stream,
            SumsOfRows<T>{rows, channels, gradient, MutableElementsOrNull<T>(masked),
                          MutableElements<double>(partial)});
  });
  SumColumns(kNormOp, 1, parts, 2 * channels, LoadFrom<double>{Elements<double>(partial)}, 1,
             MutableElements<double>(sums), dy.device(), stream);
}

void NormalizeChannelsBackward(const ops::NormBackwardInputs& in, const Tensor& dy,
                               const Tensor& own_sums, const Tensor& all_sums,
                               ops::NormGradients& out, StreamHandle stream) {
  const int64_t channels = dy.dim(-1);
  VisitFloats(kNormOp, dy.dtype(), [&]<class T>(ComputeType<T>) {
    using Sum = SumOf<T>;
    ForEach(kNormOp, channels, stream,
            ParameterGradients<Sum>{
                channels, Elements<double>(in.affine.inv_std), Elements<double>(own_sums),
                MutableElementsOrNull<Sum>(out.weight), MutableElementsOrNull<Sum>(out.bias)});
    if (out.x.defined()) WriteInputGradient<T>(in, dy, all_sums, out, stream);
  });
}

}  // namespace torus::cuda
