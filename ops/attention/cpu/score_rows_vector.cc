#include "ops/attention/cpu/score_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention/cpu/score_rows_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <algorithm>
#include <cmath>

#include "hwy/highway.h"
#include "ops/cpu/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {

using D = hn::ScalableTag<float>;

void SoftmaxStepF32(const ScoreTile& tile, float* largest, float* sum, float* shrink) {
  const D d;
  for (int64_t r = 0; r < tile.rows; ++r) {
    float* row = tile.data + r * tile.stride;
    const int64_t seen = tile.Seen(r);
    const float before = largest[r], after = std::max(before, LargestOf(d, seen, row));
    // While all scores are -inf, any finite number may be subtracted: every weight is zero.
    const float offset = std::isinf(after) && after < 0 ? 0 : after;
    largest[r] = after;
    shrink[r] = std::exp(before - offset);
    sum[r] = sum[r] * shrink[r] + ExpRow(d, seen, row, offset, row);
    std::fill(row + seen, row + tile.keys, 0.0f);
  }
}

void WeightsF32(const ScoreTile& tile, const float* largest, const float* log_sum) {
  const D d;
  for (int64_t r = 0; r < tile.rows; ++r) {
    float* row = tile.data + r * tile.stride;
    const auto top = hn::Set(d, largest[r]), sum = hn::Set(d, log_sum[r]);
    OverRow(d, tile.Seen(r), [&](auto part, auto, int64_t c) HWY_ATTR {
      const auto log_p = hn::Sub(hn::Sub(part.Load(d, row + c), top), sum);
      part.Store(ExpOfNonPositive(d, log_p), d, row + c);
    });
    std::fill(row + tile.Seen(r), row + tile.keys, 0.0f);
  }
}

void ScoreGradientsF32(const ScoreTile& weight, const float* mean, float* gradient) {
  const D d;
  for (int64_t r = 0; r < weight.rows; ++r) {
    const float* w = weight.data + r * weight.stride;
    float* g = gradient + r * weight.stride;
    const auto m = hn::Set(d, mean[r]);
    OverRow(d, weight.keys, [&](auto part, auto, int64_t c) HWY_ATTR {
      part.Store(hn::Mul(part.Load(d, w + c), hn::Sub(part.Load(d, g + c), m)), d, g + c);
    });
  }
}

void RowDotsF32(int64_t rows, int64_t width, const float* a, int64_t stride_a, const float* b,
                int64_t stride_b, float* out) {
  const D d;
  for (int64_t r = 0; r < rows; ++r, a += stride_a, b += stride_b) {
    FourSums<D> sum(d);
    OverRow(d, width, [&](auto part, auto k, int64_t c) HWY_ATTR {
      sum[k] = hn::MulAdd(part.Load(d, a + c), part.Load(d, b + c), sum[k]);
    });
    out[r] = sum.Total(d);
  }
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

HWY_EXPORT(SoftmaxStepF32);
HWY_EXPORT(WeightsF32);
HWY_EXPORT(ScoreGradientsF32);
HWY_EXPORT(RowDotsF32);

void SoftmaxStep(const ScoreTile& tile, float* largest, float* sum, float* shrink) {
  HWY_DYNAMIC_DISPATCH(SoftmaxStepF32)(tile, largest, sum, shrink);
}

void Weights(const ScoreTile& tile, const float* largest, const float* log_sum) {
  HWY_DYNAMIC_DISPATCH(WeightsF32)(tile, largest, log_sum);
}

void ScoreGradients(const ScoreTile& weight, const float* mean, float* gradient) {
  HWY_DYNAMIC_DISPATCH(ScoreGradientsF32)(weight, mean, gradient);
}

void RowDots(int64_t rows, int64_t width, const float* a, int64_t stride_a, const float* b,
             int64_t stride_b, float* out) {
  HWY_DYNAMIC_DISPATCH(RowDotsF32)(rows, width, a, stride_a, b, stride_b, out);
}

}  // namespace torus::cpu
#endif  // HWY_ONCE
