#include "ops/batch_norm/channel_functors.h"
#include "ops/batch_norm/cuda/batch_norm.h"
#include "runtime/cuda/divide.h"
//
#include "ops/batch_norm/cuda/norm_elements.h"
#include "runtime/cuda/column_sums.h"
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

using ops::Moments;

constexpr int64_t kMomentRows = 64;  // that one thread takes, and moments that one thread merges

// Moments of rows [part * 64, ...) of channel c, at part * channels + c. The second pass subtracts
// the mean, which avoids cancellation.
template <class T>
struct MomentsOfRows {
  int64_t rows, channels;
  const T* x;
  Moments* out;
  __device__ void operator()(int64_t i) const {
    const Divided at = Divide(i, channels);
    const int64_t first = at.quotient * kMomentRows;
    const int64_t count = rows - first < kMomentRows ? rows - first : kMomentRows;
    const T* const column = x + first * channels + at.rest;
    using Sum = SumOf<T>;
    const Sum center = count > 0 ? Widened(column[0]) : Sum(0);
    Sum sum = Sum(0);
    for (int64_t r = 0; r < count; ++r) sum += Widened(column[r * channels]) - center;
    const Sum mean = count > 0 ? center + sum / static_cast<Sum>(count) : Sum(0);
    Sum rest = Sum(0), squares = Sum(0);
    for (int64_t r = 0; r < count; ++r) {
      const Sum d = Widened(column[r * channels]) - mean;
      rest += d;
      squares += d * d;
    }
    // The difference between the exact mean and the mean rounded to Sum.
    const double shift = count > 0 ? static_cast<double>(rest) / static_cast<double>(count) : 0.0;
    const double m2 = static_cast<double>(squares) - shift * static_cast<double>(rest);
    out[i] = {static_cast<double>(mean) + shift, m2 > 0 || m2 != m2 ? m2 : 0.0};
  }
};

// Merges the moments of 64 neighbouring parts, each of `span` rows except the last.
struct MergedParts {
  int64_t rows, channels, parts, span;
  const Moments* in;
  Moments* out;
  __device__ void operator()(int64_t i) const {
    const Divided at = Divide(i, channels);
    const int64_t first = at.quotient * kMomentRows;
    const int64_t end = first + kMomentRows < parts ? first + kMomentRows : parts;
    Moments merged = in[first * channels + at.rest];
    for (int64_t p = first + 1; p < end; ++p) {
      const int64_t before = (p - first) * span;
      const int64_t count = rows - p * span < span ? rows - p * span : span;
      merged = ops::MergedMoments(merged, static_cast<double>(before), in[p * channels + at.rest],
                                  static_cast<double>(count));
    }
    out[i] = merged;
  }
};

struct WriteStatistics {
  int64_t rows;
  const Moments* in;
  double *mean, *var;
  __device__ void operator()(int64_t c) const {
    mean[c] = in[c].mean;
    var[c] = in[c].m2 / static_cast<double>(rows);
  }
};

// Memory for `count` moments.
Tensor MomentsRoom(int64_t count, Device device) {
  return Tensor({2 * count}, DType::kF64, device);
}

const Moments* MomentsIn(const Tensor& room) {
  return reinterpret_cast<const Moments*>(Elements<double>(room));
}

Moments* MutableMoments(Tensor& room) {
  return reinterpret_cast<Moments*>(MutableElements<double>(room));
}

// The moments of a channel's `parts` parts of 64 rows, merged to one.
Tensor MergeParts(Tensor moments, int64_t rows, int64_t channels, int64_t parts,
                  StreamHandle stream) {
  for (int64_t span = kMomentRows; parts > 1; span *= kMomentRows) {
    const int64_t fewer = SumParts(parts, kMomentRows);
    Tensor merged = MomentsRoom(fewer * channels, moments.device());
    ForEach(kNormOp, fewer * channels, stream,
            MergedParts{rows, channels, parts, span, MomentsIn(moments), MutableMoments(merged)});
    moments = merged;
    parts = fewer;
  }
  return moments;
}

template <class T>
struct MoveAverages {
  double unbias, momentum;
  const double *mean, *var;
  T *running_mean, *running_var;
  __device__ void operator()(int64_t c) const {
    running_mean[c] = ops::MovedAverage(running_mean[c], momentum, mean[c], 1);
    running_var[c] = ops::MovedAverage(running_var[c], momentum, var[c], unbias);
  }
};

struct MergeChannel {
  double more, count;
  const double *more_mean, *more_var;
  double *mean, *var;
  __device__ void operator()(int64_t c) const {
    ops::MergeVariance(more_mean[c], more_var[c], more, count, mean[c], var[c]);
  }
};

}  // namespace

void ChannelStatistics(const Tensor& x, Tensor& mean, Tensor& var, StreamHandle stream) {
  const int64_t rows = RowsOf(x), channels = x.dim(-1), parts = SumParts(rows, kMomentRows);
  if (channels == 0) return;
  Tensor moments = MomentsRoom(parts * channels, x.device());
  VisitFloats(kNormOp, x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(kNormOp, parts * channels, stream,
            MomentsOfRows<T>{rows, channels, Elements<T>(x), MutableMoments(moments)});
  });
  moments = MergeParts(moments, rows, channels, parts, stream);
  ForEach(kNormOp, channels, stream,
          WriteStatistics{rows, MomentsIn(moments), MutableElements<double>(mean),
                          MutableElements<double>(var)});
}

void UpdateRunningStatistics(const Tensor& mean, const Tensor& var, double unbias, double momentum,
                             Tensor& running_mean, Tensor& running_var, StreamHandle stream) {
  const Tensor batch_mean = mean.To(DType::kF64), batch_var = var.To(DType::kF64);
  VisitCompute(kNormOp, running_mean.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(
        kNormOp, mean.numel(), stream,
        MoveAverages<T>{unbias, momentum, Elements<double>(batch_mean), Elements<double>(batch_var),
                        MutableElements<T>(running_mean), MutableElements<T>(running_var)});
  });
}

void MergeStatistics(const Tensor& more_mean, const Tensor& more_var, int64_t more, Tensor& mean,
                     Tensor& var, int64_t count, StreamHandle stream) {
  ForEach(kNormOp, mean.numel(), stream,
          MergeChannel{static_cast<double>(more), static_cast<double>(count),
                       Elements<double>(more_mean), Elements<double>(more_var),
                       MutableElements<double>(mean), MutableElements<double>(var)});
}

}  // namespace torus::cuda
