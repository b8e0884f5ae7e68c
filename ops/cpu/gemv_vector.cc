// The kernels, once for every vector width.
#include "ops/cpu/gemv.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/gemv_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <algorithm>
#include <vector>

#include "hwy/highway.h"
#include "ops/cpu/low_pieces.h"
#include "runtime/parallel_for.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;

// A vector of bf16, widened.
HWY_INLINE hn::Vec<D> LoadWide(D d, const BFloat16* p) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint16_t, D> half;
  const auto bits = hn::LoadU(half, reinterpret_cast<const uint16_t*>(p));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
}

constexpr int kRows = 8;  // of B, read at the same time

// y += the sum of `rows` rows of B, each times its x. Prefetches the next `rows` rows, which the
// hardware does not do if rows are short.
template <int rows>
void AddRows(int64_t n, const float* x, const BFloat16* b, int64_t ldb, float* y) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) {
    auto sum = hn::LoadU(d, y + c);
    for (int r = 0; r < rows; ++r) {
      __builtin_prefetch(b + (rows + r) * ldb + c);
      sum = hn::MulAdd(hn::Set(d, x[r]), LoadWide(d, b + r * ldb + c), sum);
    }
    hn::StoreU(sum, d, y + c);
  }
  for (; c < n; ++c)
    for (int r = 0; r < rows; ++r) y[c] += x[r] * static_cast<float>(b[r * ldb + c]);
}

// Columns [0, n) of B, added to y.
void RowTimes(int64_t n, int64_t k, const float* x, const BFloat16* b, int64_t ldb, float* y) {
  int64_t r = 0;
  for (; r + kRows <= k; r += kRows) AddRows<kRows>(n, x + r, b + r * ldb, ldb, y);
  for (; r < k; ++r) AddRows<1>(n, x + r, b + r * ldb, ldb, y);
}

HWY_INLINE hn::Vec<D> LoadWide(D d, const float* p) { return hn::LoadU(d, p); }

// y[r] += the product of x with row r of B, for 1 to 4 rows, which are read at the same time. Each
// row has a sum in every lane; the lanes are summed at the end.
template <class T>
void AddDots(int64_t rows, int64_t k, const float* x, const T* b, int64_t ldb, float* y) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto row = [&](int64_t r) { return b + std::min(r, rows - 1) * ldb; };
  const T *b0 = row(0), *b1 = row(1), *b2 = row(2), *b3 = row(3);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + lanes <= k; i += lanes) {
    const auto factor = hn::LoadU(d, x + i);
    s0 = hn::MulAdd(factor, LoadWide(d, b0 + i), s0);
    s1 = hn::MulAdd(factor, LoadWide(d, b1 + i), s1);
    s2 = hn::MulAdd(factor, LoadWide(d, b2 + i), s2);
    s3 = hn::MulAdd(factor, LoadWide(d, b3 + i), s3);
  }
  float sums[4] = {hn::GetLane(hn::SumOfLanes(d, s0)), hn::GetLane(hn::SumOfLanes(d, s1)),
                   hn::GetLane(hn::SumOfLanes(d, s2)), hn::GetLane(hn::SumOfLanes(d, s3))};
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = i; j < k; ++j) sums[r] += x[j] * static_cast<float>(row(r)[j]);
    y[r] += sums[r];
  }
}

template <class T>
void AddAllDots(int64_t n, int64_t k, const float* x, const T* b, int64_t ldb, float* y) {
  for (int64_t j = 0; j < n; j += 4)
    AddDots(std::min<int64_t>(4, n - j), k, x, b + j * ldb, ldb, y + j);
}

void LowDots(int64_t n, int64_t k, const float* x, const BFloat16* b, int64_t ldb, float* y) {
  AddAllDots(n, k, x, b, ldb, y);
}

void Dots(int64_t n, int64_t k, const float* x, const float* b, int64_t ldb, float* y) {
  AddAllDots(n, k, x, b, ldb, y);
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

HWY_EXPORT(RowTimes);
HWY_EXPORT(LowDots);
HWY_EXPORT(Dots);

namespace {

std::vector<float> Wide(const BFloat16* x, int64_t k) {
  std::vector<float> wide(static_cast<size_t>(k));
  Widen(x, k, wide.data());
  return wide;
}

// Calls columns(begin, end) on the team.
template <class Columns>
void OverColumns(int64_t n, int64_t k, const Columns& columns) {
  constexpr int64_t kMultiply = 1 << 15;  // multiplications that are worth waking a thread for
  ParallelFor(n, std::max<int64_t>(1, kMultiply / std::max<int64_t>(1, k)), columns);
}

void Begin(int64_t begin, int64_t end, const float* bias, float* y) {
  for (int64_t j = begin; j < end; ++j) y[j] = bias == nullptr ? 0.0f : bias[j];
}

}  // namespace

void LowRowTimes(int64_t n, int64_t k, const BFloat16* x, const BFloat16* b, int64_t ldb,
                 const float* bias, float* y) {
  const std::vector<float> wide = Wide(x, k);
  OverColumns(n, k, [&](int64_t begin, int64_t end) {
    Begin(begin, end, bias, y);
    HWY_DYNAMIC_DISPATCH(RowTimes)(end - begin, k, wide.data(), b + begin, ldb, y + begin);
  });
}

void LowRowTimesTransposed(int64_t n, int64_t k, const BFloat16* x, const BFloat16* b, int64_t ldb,
                           const float* bias, float* y) {
  const std::vector<float> wide = Wide(x, k);
  OverColumns(n, k, [&](int64_t begin, int64_t end) {
    Begin(begin, end, bias, y);
    HWY_DYNAMIC_DISPATCH(LowDots)(end - begin, k, wide.data(), b + begin * ldb, ldb, y + begin);
  });
}

void AddRowTimesTransposed(int64_t n, int64_t k, const float* x, const float* b, int64_t ldb,
                           float* y) {
  OverColumns(n, k, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(Dots)(end - begin, k, x, b + begin * ldb, ldb, y + begin);
  });
}

}  // namespace torus::cpu
#endif  // HWY_ONCE
