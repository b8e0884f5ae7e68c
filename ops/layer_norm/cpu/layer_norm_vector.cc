// The float rows, once for every vector width. A row is read from memory once; later passes find it
// in the first-level cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/layer_norm/cpu/layer_norm_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <cmath>

#include "hwy/highway.h"
#include "ops/cpu/rows-inl.h"
#include "ops/layer_norm/cpu/layer_norm_rows.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {

using D = hn::ScalableTag<float>;

HWY_INLINE float MeanOf(D d, int64_t n, const float* x) {
  FourSums<D> sum(d);
  OverRow(d, n, [&](auto part, auto k, int64_t c) HWY_ATTR {
    sum[k] = hn::Add(sum[k], part.Load(d, x + c));
  });
  return sum.Total(d) / static_cast<float>(n);
}

// A second pass subtracts the mean, which avoids cancellation.
HWY_INLINE float VarianceOf(D d, int64_t n, const float* x, float mean) {
  FourSums<D> sum(d);
  const auto m = hn::Set(d, mean);
  OverRow(d, n, [&](auto part, auto k, int64_t c) HWY_ATTR {
    const auto centered = part.Keep(d, hn::Sub(part.Load(d, x + c), m));
    sum[k] = hn::MulAdd(centered, centered, sum[k]);
  });
  return sum.Total(d) / static_cast<float>(n);
}

void NormalizeRowsF32(int64_t rows, int64_t n, const float* x, const float* weight,
                      const float* bias, double eps, float* y, float* mean, float* rstd) {
  const D d;
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const float middle = mean == nullptr ? 0 : MeanOf(d, n, x);
    if (mean != nullptr) mean[r] = middle;
    rstd[r] =
        static_cast<float>(1 / std::sqrt(static_cast<double>(VarianceOf(d, n, x, middle)) + eps));
    const auto m = hn::Set(d, middle), s = hn::Set(d, rstd[r]);
    OverRow(d, n, [&](auto part, auto, int64_t c) HWY_ATTR {
      const auto normal = hn::Mul(hn::Sub(part.Load(d, x + c), m), s);
      part.Store(hn::MulAdd(normal, part.Load(d, weight + c), part.Load(d, bias + c)), d, y + c);
    });
  }
}

// Sums of g and g x^ of a row, as they are needed for dx.
struct RowSums {
  float g, product;
};

template <bool kParameters>
HWY_INLINE RowSums SumRow(D d, int64_t n, const float* dy, const float* x, float mean, float rstd,
                          const float* weight, float* dweight, float* dbias) {
  FourSums<D> g(d), product(d);
  const auto m = hn::Set(d, mean), s = hn::Set(d, rstd);
  OverRow(d, n, [&](auto part, auto k, int64_t c) HWY_ATTR {
    const auto grad = part.Load(d, dy + c);  // zero beyond the row, and so are the terms below
    const auto normal = part.Keep(d, hn::Mul(hn::Sub(part.Load(d, x + c), m), s));
    const auto weighted = hn::Mul(grad, part.Load(d, weight + c));
    g[k] = hn::Add(g[k], weighted);
    product[k] = hn::MulAdd(weighted, normal, product[k]);
    if constexpr (kParameters) {
      part.Store(hn::MulAdd(grad, normal, part.Load(d, dweight + c)), d, dweight + c);
      part.Store(hn::Add(grad, part.Load(d, dbias + c)), d, dbias + c);
    }
  });
  return {g.Total(d), product.Total(d)};
}

void NormalizeRowsBackwardF32(int64_t rows, int64_t n, const float* dy, const float* x,
                              const float* mean, const float* rstd, const float* weight, float* dx,
                              float* dweight, float* dbias) {
  const D d;
  const float share = 1 / static_cast<float>(n);
  for (int64_t r = 0; r < rows; ++r, dy += n, x += n) {
    const float middle = mean == nullptr ? 0 : mean[r];
    const RowSums sums =
        dweight != nullptr ? SumRow<true>(d, n, dy, x, middle, rstd[r], weight, dweight, dbias)
                           : SumRow<false>(d, n, dy, x, middle, rstd[r], weight, nullptr, nullptr);
    if (dx == nullptr) continue;
    const auto m = hn::Set(d, middle), s = hn::Set(d, rstd[r]);
    const auto offset = hn::Set(d, mean == nullptr ? 0 : sums.g * share),
               slope = hn::Set(d, sums.product * share);
    OverRow(d, n, [&](auto part, auto, int64_t c) HWY_ATTR {
      const auto normal = hn::Mul(hn::Sub(part.Load(d, x + c), m), s);
      const auto g = hn::Mul(part.Load(d, dy + c), part.Load(d, weight + c));
      part.Store(hn::Mul(s, hn::NegMulAdd(normal, slope, hn::Sub(g, offset))), d, dx + c);
    });
    dx += n;
  }
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

HWY_EXPORT(NormalizeRowsF32);
HWY_EXPORT(NormalizeRowsBackwardF32);

void NormalizeRows(int64_t rows, int64_t n, const float* x, const float* weight, const float* bias,
                   double eps, float* y, float* mean, float* rstd) {
  HWY_DYNAMIC_DISPATCH(NormalizeRowsF32)(rows, n, x, weight, bias, eps, y, mean, rstd);
}

void NormalizeRowsBackward(int64_t rows, int64_t n, const float* dy, const float* x,
                           const float* mean, const float* rstd, const float* weight, float* dx,
                           float* dweight, float* dbias) {
  HWY_DYNAMIC_DISPATCH(NormalizeRowsBackwardF32)
  (rows, n, dy, x, mean, rstd, weight, dx, dweight, dbias);
}

}  // namespace torus::cpu
#endif  // HWY_ONCE
