// The float kernels, once for every vector width. Four rows at a time, so that the channels'
// parameters and partial sums (in L1) are loaded once for four rows of data.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/batch_norm/cpu/norm_rows_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <algorithm>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "ops/batch_norm/cpu/norm_rows.h"
#include "ops/cpu/channels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {
// Prefetches data needed a little later: z comes from memory, and the four rows of a group defeat
// the hardware's prefetchers (4 % of a whole training step). Past the end it does nothing.
HWY_INLINE void PrefetchAhead(const float* z, int64_t channels) {
  hwy::Prefetch(z + 4 * channels + 256);
}

void CenteredSumsF32(const float* HWY_RESTRICT z, int64_t rows, int64_t channels,
                     const float* HWY_RESTRICT center, float* HWY_RESTRICT sum,
                     float* HWY_RESTRICT sum_sq) {
  std::fill(sum, sum + channels, 0.0f);
  std::fill(sum_sq, sum_sq + channels, 0.0f);
  InGroups<4>(0, rows, [&](auto group, int64_t r) HWY_ATTR {
    OverChannels(hn::ScalableTag<float>(), 0, channels, [&](auto d, int64_t c) HWY_ATTR {
      const auto m = hn::LoadU(d, center + c);
      auto s = hn::LoadU(d, sum + c), q = hn::LoadU(d, sum_sq + c);
      for (int i = 0; i < group; ++i) {
        const auto x = hn::Sub(hn::LoadU(d, z + (r + i) * channels + c), m);
        s = hn::Add(s, x);
        q = hn::MulAdd(x, x, q);
      }
      hn::StoreU(s, d, sum + c);
      hn::StoreU(q, d, sum_sq + c);
    });
  });
}

template <bool kResidual>
void NormalizeRows(const float* z, int64_t rows, int64_t channels, const Affine<float>& affine,
                   const Clamp& clamp, const float* residual, float* y) {
  InGroups<4>(0, rows, [&](auto group, int64_t r) HWY_ATTR {
    OverChannels(hn::ScalableTag<float>(), 0, channels, [&](auto d, int64_t c) HWY_ATTR {
      const auto m = hn::LoadU(d, affine.mean + c), s = hn::LoadU(d, affine.scale + c);
      const auto b = hn::LoadU(d, affine.bias + c);
      const auto low = hn::Set(d, static_cast<float>(clamp.low));
      const auto high = hn::Set(d, static_cast<float>(clamp.high));
      for (int i = 0; i < group; ++i) {
        const int64_t at = (r + i) * channels + c;
        PrefetchAhead(z + at, channels);
        auto t = hn::MulAdd(hn::Sub(hn::LoadU(d, z + at), m), s, b);
        if constexpr (kResidual) t = hn::Add(t, hn::LoadU(d, residual + at));
        hn::StoreU(hn::Min(high, hn::Max(low, t)), d, y + at);  // in this order NaN passes
      }
    });
  });
}

void NormalizeF32(const float* z, int64_t rows, int64_t channels, const Affine<float>& affine,
                  const Clamp& clamp, const float* residual, float* y) {
  if (residual != nullptr)
    NormalizeRows<true>(z, rows, channels, affine, clamp, residual, y);
  else
    NormalizeRows<false>(z, rows, channels, affine, clamp, residual, y);
}

// The value from which the mask is computed.
enum class Mask { kNone, kFromZ, kFromY };

template <Mask kMask, bool kWrite>
void MaskedSumRows(const float* dy, const float* HWY_RESTRICT z, const float* HWY_RESTRICT y,
                   int64_t rows, int64_t channels, const Affine<float>& affine, const Clamp& clamp,
                   float* g, float* HWY_RESTRICT sum_g, float* HWY_RESTRICT sum_gd) {
  std::fill(sum_g, sum_g + channels, 0.0f);
  std::fill(sum_gd, sum_gd + channels, 0.0f);
  InGroups<4>(0, rows, [&](auto group, int64_t r) HWY_ATTR {
    OverChannels(hn::ScalableTag<float>(), 0, channels, [&](auto d, int64_t c) HWY_ATTR {
      const auto m = hn::LoadU(d, affine.mean + c), s = hn::LoadU(d, affine.scale + c);
      const auto b = hn::LoadU(d, affine.bias + c);
      const auto low = hn::Set(d, static_cast<float>(clamp.low));
      const auto high = hn::Set(d, static_cast<float>(clamp.high));
      auto total = hn::LoadU(d, sum_g + c), weighted = hn::LoadU(d, sum_gd + c);
      for (int i = 0; i < group; ++i) {
        const int64_t at = (r + i) * channels + c;
        PrefetchAhead(z + at, channels);
        const auto centered = hn::Sub(hn::LoadU(d, z + at), m);
        auto grad = hn::LoadU(d, dy + at);
        if constexpr (kMask != Mask::kNone) {
          const auto t = kMask == Mask::kFromY ? hn::LoadU(d, (kMask == Mask::kFromY ? y : z) + at)
                                               : hn::MulAdd(centered, s, b);
          grad = hn::IfThenElseZero(hn::And(hn::Lt(low, t), hn::Lt(t, high)), grad);
        }
        total = hn::Add(total, grad);
        weighted = hn::MulAdd(grad, centered, weighted);
        if constexpr (kWrite) hn::StoreU(grad, d, g + at);
      }
      hn::StoreU(total, d, sum_g + c);
      hn::StoreU(weighted, d, sum_gd + c);
    });
  });
}

template <Mask kMask>
void MaskedSumsOf(const float* dy, const float* z, const float* y, int64_t rows, int64_t channels,
                  const Affine<float>& affine, const Clamp& clamp, float* g, float* sum_g,
                  float* sum_gd) {
  if (g != nullptr)
    MaskedSumRows<kMask, true>(dy, z, y, rows, channels, affine, clamp, g, sum_g, sum_gd);
  else
    MaskedSumRows<kMask, false>(dy, z, y, rows, channels, affine, clamp, g, sum_g, sum_gd);
}

void MaskedSumsF32(const float* dy, const float* z, const float* y, int64_t rows, int64_t channels,
                   const Affine<float>& affine, const Clamp& clamp, float* g, float* sum_g,
                   float* sum_gd) {
  if (clamp.identity())
    MaskedSumsOf<Mask::kNone>(dy, z, y, rows, channels, affine, clamp, g, sum_g, sum_gd);
  else if (y == nullptr)
    MaskedSumsOf<Mask::kFromZ>(dy, z, y, rows, channels, affine, clamp, g, sum_g, sum_gd);
  else
    MaskedSumsOf<Mask::kFromY>(dy, z, y, rows, channels, affine, clamp, g, sum_g, sum_gd);
}

template <bool kMasked, bool kConstant>
void BackwardInputRows(const float* dy, const float* z, int64_t rows, int64_t channels,
                       const BackwardAffine<float>& affine, const Clamp& clamp, float* dz) {
  InGroups<4>(0, rows, [&](auto group, int64_t r) HWY_ATTR {
    OverChannels(hn::ScalableTag<float>(), 0, channels, [&](auto d, int64_t c) HWY_ATTR {
      const auto m = hn::LoadU(d, affine.forward.mean + c),
                 a = hn::LoadU(d, affine.forward.scale + c);
      const auto b = hn::LoadU(d, affine.forward.bias + c);
      const auto slope = kConstant ? hn::Zero(d) : hn::LoadU(d, affine.slope + c);
      const auto offset = kConstant ? hn::Zero(d) : hn::LoadU(d, affine.offset + c);
      const auto low = hn::Set(d, static_cast<float>(clamp.low));
      const auto high = hn::Set(d, static_cast<float>(clamp.high));
      for (int i = 0; i < group; ++i) {
        const int64_t at = (r + i) * channels + c;
        PrefetchAhead(z + at, channels);
        const auto centered = hn::Sub(hn::LoadU(d, z + at), m);
        auto grad = hn::LoadU(d, dy + at);
        if constexpr (kMasked) {
          const auto t = hn::MulAdd(centered, a, b);
          grad = hn::IfThenElseZero(hn::And(hn::Lt(low, t), hn::Lt(t, high)), grad);
        }
        const auto line = kConstant ? offset : hn::MulAdd(centered, slope, offset);
        hn::StoreU(hn::MulAdd(grad, a, line), d, dz + at);
      }
    });
  });
}

template <bool kConstant>
void BackwardInputOf(const float* dy, const float* z, int64_t rows, int64_t channels,
                     const BackwardAffine<float>& affine, const Clamp& clamp, float* dz) {
  if (clamp.identity())
    BackwardInputRows<false, kConstant>(dy, z, rows, channels, affine, clamp, dz);
  else
    BackwardInputRows<true, kConstant>(dy, z, rows, channels, affine, clamp, dz);
}

void BackwardInputF32(const float* dy, const float* z, int64_t rows, int64_t channels,
                      const BackwardAffine<float>& affine, const Clamp& clamp, float* dz) {
  if (affine.slope == nullptr)
    BackwardInputOf<true>(dy, z, rows, channels, affine, clamp, dz);
  else
    BackwardInputOf<false>(dy, z, rows, channels, affine, clamp, dz);
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

HWY_EXPORT(CenteredSumsF32);
HWY_EXPORT(NormalizeF32);
HWY_EXPORT(MaskedSumsF32);
HWY_EXPORT(BackwardInputF32);

void CenteredSums(const float* z, int64_t rows, int64_t channels, const float* center, float* sum,
                  float* sum_sq) {
  HWY_DYNAMIC_DISPATCH(CenteredSumsF32)(z, rows, channels, center, sum, sum_sq);
}

void Normalize(const float* z, int64_t rows, int64_t channels, const Affine<float>& affine,
               const Clamp& clamp, const float* residual, float* y) {
  HWY_DYNAMIC_DISPATCH(NormalizeF32)(z, rows, channels, affine, clamp, residual, y);
}

void MaskedSums(const float* dy, const float* z, const float* y, int64_t rows, int64_t channels,
                const Affine<float>& affine, const Clamp& clamp, float* g, float* sum_g,
                float* sum_gd) {
  HWY_DYNAMIC_DISPATCH(MaskedSumsF32)(dy, z, y, rows, channels, affine, clamp, g, sum_g, sum_gd);
}

void BackwardInput(const float* dy, const float* z, int64_t rows, int64_t channels,
                   const BackwardAffine<float>& affine, const Clamp& clamp, float* dz) {
  HWY_DYNAMIC_DISPATCH(BackwardInputF32)(dy, z, rows, channels, affine, clamp, dz);
}

}  // namespace torus::cpu
#endif  // HWY_ONCE
