// The kernels, once for every vector width.
#include "ops/cpu/low_gemv.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/low_gemv_vector.cc"
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

float Dot(int64_t k, const float* x, const BFloat16* b) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= k; i += 4 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, x + i), LoadWide(d, b + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, x + i + lanes), LoadWide(d, b + i + lanes), s1);
    s2 = hn::MulAdd(hn::LoadU(d, x + i + 2 * lanes), LoadWide(d, b + i + 2 * lanes), s2);
    s3 = hn::MulAdd(hn::LoadU(d, x + i + 3 * lanes), LoadWide(d, b + i + 3 * lanes), s3);
  }
  for (; i + lanes <= k; i += lanes) s0 = hn::MulAdd(hn::LoadU(d, x + i), LoadWide(d, b + i), s0);
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < k; ++i) sum += x[i] * static_cast<float>(b[i]);
  return sum;
}

void Dots(int64_t n, int64_t k, const float* x, const BFloat16* b, int64_t ldb, float* y) {
  for (int64_t j = 0; j < n; ++j) y[j] += Dot(k, x, b + j * ldb);
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

HWY_EXPORT(RowTimes);
HWY_EXPORT(Dots);

namespace {

std::vector<float> Wide(const BFloat16* x, int64_t k) {
  std::vector<float> wide(static_cast<size_t>(k));
  Widen(x, k, wide.data());
  return wide;
}

// Calls columns(begin, end) on the team, with y set to the bias there.
template <class Columns>
void OverColumns(int64_t n, int64_t k, const float* bias, float* y, const Columns& columns) {
  constexpr int64_t kMultiply = 1 << 15;  // multiplications that are worth waking a thread for
  ParallelFor(n, std::max<int64_t>(1, kMultiply / std::max<int64_t>(1, k)),
              [&](int64_t begin, int64_t end) {
                for (int64_t j = begin; j < end; ++j) y[j] = bias == nullptr ? 0.0f : bias[j];
                columns(begin, end);
              });
}

}  // namespace

void LowRowTimes(int64_t n, int64_t k, const BFloat16* x, const BFloat16* b, int64_t ldb,
                 const float* bias, float* y) {
  const std::vector<float> wide = Wide(x, k);
  OverColumns(n, k, bias, y, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(RowTimes)(end - begin, k, wide.data(), b + begin, ldb, y + begin);
  });
}

void LowRowTimesTransposed(int64_t n, int64_t k, const BFloat16* x, const BFloat16* b, int64_t ldb,
                           const float* bias, float* y) {
  const std::vector<float> wide = Wide(x, k);
  OverColumns(n, k, bias, y, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(Dots)(end - begin, k, wide.data(), b + begin * ldb, ldb, y + begin);
  });
}

}  // namespace torus::cpu
#endif  // HWY_ONCE
