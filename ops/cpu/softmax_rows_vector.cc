// The float kernels, once for every vector width.
#include "ops/cpu/softmax_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/softmax_rows_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <cmath>

#include "hwy/highway.h"
#include "ops/cpu/low_pieces.h"
#include "ops/cpu/softmax-inl.h"
#include "runtime/parallel_for.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {

using D = hn::ScalableTag<float>;

void SoftmaxRows(int64_t rows, int64_t n, const float* x, float* y) {
  const D d;
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const float sum = ExpRow(d, n, x, LargestOf(d, n, x), y);
    const auto scale = hn::Set(d, 1 / sum);
    OverRow(d, n, [&](auto part, auto, int64_t c) HWY_ATTR {
      part.Store(hn::Mul(part.Load(d, y + c), scale), d, y + c);
    });
  }
}

void SoftmaxBackwardRows(int64_t rows, int64_t n, const float* y, const float* dy, float* dx) {
  const D d;
  for (int64_t r = 0; r < rows; ++r, y += n, dy += n, dx += n) {
    FourSums<D> dot(d);
    OverRow(d, n, [&](auto part, auto k, int64_t c) HWY_ATTR {
      dot[k] = hn::MulAdd(part.Load(d, y + c), part.Load(d, dy + c), dot[k]);
    });
    const auto mean = hn::Set(d, dot.Total(d));
    OverRow(d, n, [&](auto part, auto, int64_t c) HWY_ATTR {
      const auto g = hn::Sub(part.Load(d, dy + c), mean);
      part.Store(hn::Mul(part.Load(d, y + c), g), d, dx + c);
    });
  }
}

void LogSoftmaxRows(int64_t rows, int64_t n, const float* x, float* y) {
  const D d;
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const float largest = LargestOf(d, n, x);
    const auto m = hn::Set(d, largest);
    const auto log_sum = hn::Set(d, std::log(SumOfExp(d, n, x, largest)));
    OverRow(d, n, [&](auto part, auto, int64_t c) HWY_ATTR {
      part.Store(hn::Sub(hn::Sub(part.Load(d, x + c), m), log_sum), d, y + c);
    });
  }
}

void LogSoftmaxBackwardRows(int64_t rows, int64_t n, const float* y, const float* dy, float* dx) {
  const D d;
  for (int64_t r = 0; r < rows; ++r, y += n, dy += n, dx += n) {
    const auto sum = hn::Set(d, SumOf(d, n, dy));
    OverRow(d, n, [&](auto part, auto, int64_t c) HWY_ATTR {
      const auto p = ExpOfNonPositive(d, part.Load(d, y + c));
      part.Store(hn::NegMulAdd(p, sum, part.Load(d, dy + c)), d, dx + c);
    });
  }
}

void LogSumExpRows(int64_t rows, int64_t n, const float* x, float* largest, float* log_sum) {
  const D d;
  for (int64_t r = 0; r < rows; ++r, x += n) {
    largest[r] = LargestOf(d, n, x);
    log_sum[r] = std::log(SumOfExp(d, n, x, largest[r]));
  }
}

void ScaledSoftmaxRow(int64_t n, const float* x, float largest, float log_sum, float scale,
                      float* y) {
  const D d;
  const auto top = hn::Set(d, largest), sum = hn::Set(d, log_sum), factor = hn::Set(d, scale);
  const auto dropped = hn::Eq(factor, hn::Zero(d));
  OverRow(d, n, [&](auto part, auto, int64_t c) HWY_ATTR {
    const auto log_p = hn::Sub(hn::Sub(part.Load(d, x + c), top), sum);
    const auto scaled = hn::Mul(ExpOfNonPositive(d, log_p), factor);
    part.Store(hn::IfThenZeroElse(dropped, scaled), d, y + c);
  });
}

void ScaledSoftmaxRows(int64_t rows, int64_t n, const float* x, const float* largest,
                       const float* log_sum, const float* scale, float* y) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n)
    ScaledSoftmaxRow(n, x, largest[r], log_sum[r], scale[r], y);
}

void LowScaledSoftmaxRows(int64_t rows, int64_t n, const float* x, const float* largest,
                          const float* log_sum, const float* scale, BFloat16* y) {
  float piece[kLowPiece];
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    ForPieces(0, n, [&](int64_t c, int64_t count) {
      ScaledSoftmaxRow(count, x + c, largest[r], log_sum[r], scale[r], piece);
      Round(piece, count, y + c);
    });
  }
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

HWY_EXPORT(SoftmaxRows);
HWY_EXPORT(SoftmaxBackwardRows);
HWY_EXPORT(LogSoftmaxRows);
HWY_EXPORT(LogSoftmaxBackwardRows);
HWY_EXPORT(LogSumExpRows);
HWY_EXPORT(ScaledSoftmaxRows);
HWY_EXPORT(LowScaledSoftmaxRows);

namespace {

// One thread computes a whole row, so the split changes no bits.
template <class Rows>
void ForRows(int64_t rows, int64_t n, const Rows& run) {
  ParallelFor(rows, (1 << 14) / (n + 1) + 1,
              [&](int64_t begin, int64_t end) { run(end - begin, begin * n); });
}

}  // namespace

template <>
void Softmax(int64_t rows, int64_t n, const float* x, float* y) {
  ForRows(rows, n, [=](int64_t count, int64_t at) {
    HWY_DYNAMIC_DISPATCH(SoftmaxRows)(count, n, x + at, y + at);
  });
}

template <>
void SoftmaxBackward(int64_t rows, int64_t n, const float* y, const float* dy, float* dx) {
  ForRows(rows, n, [=](int64_t count, int64_t at) {
    HWY_DYNAMIC_DISPATCH(SoftmaxBackwardRows)(count, n, y + at, dy + at, dx + at);
  });
}

template <>
void LogSoftmax(int64_t rows, int64_t n, const float* x, float* y) {
  ForRows(rows, n, [=](int64_t count, int64_t at) {
    HWY_DYNAMIC_DISPATCH(LogSoftmaxRows)(count, n, x + at, y + at);
  });
}

template <>
void LogSoftmaxBackward(int64_t rows, int64_t n, const float* y, const float* dy, float* dx) {
  ForRows(rows, n, [=](int64_t count, int64_t at) {
    HWY_DYNAMIC_DISPATCH(LogSoftmaxBackwardRows)(count, n, y + at, dy + at, dx + at);
  });
}

template <>
void LogSumExp(int64_t rows, int64_t n, const float* x, float* largest, float* log_sum) {
  ParallelFor(rows, (1 << 14) / (n + 1) + 1, [=](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(LogSumExpRows)
    (end - begin, n, x + begin * n, largest + begin, log_sum + begin);
  });
}

template <>
void ScaledSoftmax(int64_t rows, int64_t n, const float* x, const float* largest,
                   const float* log_sum, const float* scale, float* y) {
  ParallelFor(rows, (1 << 14) / (n + 1) + 1, [=](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(ScaledSoftmaxRows)
    (end - begin, n, x + begin * n, largest + begin, log_sum + begin, scale + begin, y + begin * n);
  });
}

void ScaledSoftmax(int64_t rows, int64_t n, const float* x, const float* largest,
                   const float* log_sum, const float* scale, BFloat16* y) {
  ParallelFor(rows, (1 << 14) / (n + 1) + 1, [=](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(LowScaledSoftmaxRows)
    (end - begin, n, x + begin * n, largest + begin, log_sum + begin, scale + begin, y + begin * n);
  });
}

}  // namespace torus::cpu
#endif  // HWY_ONCE
