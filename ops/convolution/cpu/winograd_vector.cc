#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/convolution/cpu/winograd_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "ops/convolution/cpu/winograd_vector.h"
#include "ops/cpu/channels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {

// The points are 0, +-kA, +-kB and infinity.
constexpr float kA = 0.625f, kB = 1.5f;
constexpr float kA2 = kA * kA, kB2 = kB * kB, kSum = kA2 + kB2, kProduct = kA2 * kB2;
// The reciprocal of the product of the differences between a point and the others.
constexpr float k0 = 1 / kProduct, kFactorA = 1 / (2 * kA2 * (kA2 - kB2)),
                kFactorB = 1 / (2 * kB2 * (kB2 - kA2));

// x + factor * y
template <class V>
HWY_INLINE V Plus(V x, float factor, V y) {
  return hn::MulAdd(hn::Set(hn::DFromV<V>(), factor), y, x);
}
template <class V>
HWY_INLINE V Times(float factor, V x) {
  return hn::Mul(hn::Set(hn::DFromV<V>(), factor), x);
}

// B^T
struct InputStep {
  static constexpr int kIn = 6, kOut = 6;
  template <class V>
  static HWY_INLINE void Apply(const V* x, V* y) {
    const V even_a = Plus(x[4], -kB2, x[2]), odd_a = Plus(x[3], -kB2, x[1]);
    const V even_b = Plus(x[4], -kA2, x[2]), odd_b = Plus(x[3], -kA2, x[1]);
    y[0] = Plus(Plus(x[4], -kSum, x[2]), kProduct, x[0]);
    y[1] = Plus(even_a, kA, odd_a), y[2] = Plus(even_a, -kA, odd_a);
    y[3] = Plus(even_b, kB, odd_b), y[4] = Plus(even_b, -kB, odd_b);
    y[5] = Plus(Plus(x[5], -kSum, x[3]), kProduct, x[1]);
  }
};

// A^T
struct OutputStep {
  static constexpr int kIn = 6, kOut = 4;
  template <class V>
  static HWY_INLINE void Apply(const V* x, V* y) {
    const V even_a = hn::Add(x[1], x[2]), odd_a = hn::Sub(x[1], x[2]);
    const V even_b = hn::Add(x[3], x[4]), odd_b = hn::Sub(x[3], x[4]);
    y[0] = hn::Add(hn::Add(x[0], even_a), even_b);
    y[1] = Plus(Times(kA, odd_a), kB, odd_b);
    y[2] = Plus(Times(kA2, even_a), kB2, even_b);
    y[3] = Plus(Plus(x[5], kA2 * kA, odd_a), kB2 * kB, odd_b);
  }
};

// A
struct OutputGradientStep {
  static constexpr int kIn = 4, kOut = 6;
  template <class V>
  static HWY_INLINE void Apply(const V* x, V* y) {
    const V even_a = Plus(x[0], kA2, x[2]), odd_a = Plus(x[1], kA2, x[3]);
    const V even_b = Plus(x[0], kB2, x[2]), odd_b = Plus(x[1], kB2, x[3]);
    y[0] = x[0];
    y[1] = Plus(even_a, kA, odd_a), y[2] = Plus(even_a, -kA, odd_a);
    y[3] = Plus(even_b, kB, odd_b), y[4] = Plus(even_b, -kB, odd_b);
    y[5] = x[3];
  }
};

// G
struct WeightStep {
  static constexpr int kIn = 3, kOut = 6;
  template <class V>
  static HWY_INLINE void Apply(const V* x, V* y) {
    const V even_a = Times(kFactorA, Plus(x[0], kA2, x[2])), odd_a = Times(kFactorA * kA, x[1]);
    const V even_b = Times(kFactorB, Plus(x[0], kB2, x[2])), odd_b = Times(kFactorB * kB, x[1]);
    y[0] = Times(k0, x[0]);
    y[1] = hn::Add(even_a, odd_a), y[2] = hn::Sub(even_a, odd_a);
    y[3] = hn::Add(even_b, odd_b), y[4] = hn::Sub(even_b, odd_b);
    y[5] = x[2];
  }
};

// G^T
struct WeightGradientStep {
  static constexpr int kIn = 6, kOut = 3;
  template <class V>
  static HWY_INLINE void Apply(const V* x, V* y) {
    const V even_a = Times(kFactorA, hn::Add(x[1], x[2]));
    const V even_b = Times(kFactorB, hn::Add(x[3], x[4]));
    y[0] = Plus(hn::Add(even_a, even_b), k0, x[0]);
    y[1] = Plus(Times(kFactorA * kA, hn::Sub(x[1], x[2])), kFactorB * kB, hn::Sub(x[3], x[4]));
    y[2] = Plus(Plus(x[5], kA2, even_a), kB2, even_b);
  }
};

// Applies Step to the columns, then to the rows of load(i, j), and passes the results to store(i,
// j, value).
template <class Step, class D, class Load, class Store>
HWY_INLINE void BothWays(D, const Load& load, const Store& store) {
  using V = hn::Vec<D>;
  V middle[Step::kOut][Step::kIn];
#pragma GCC unroll 6
  for (int j = 0; j < Step::kIn; ++j) {
    V in[Step::kIn], out[Step::kOut];
#pragma GCC unroll 6
    for (int i = 0; i < Step::kIn; ++i) in[i] = load(i, j);
    Step::Apply(in, out);
#pragma GCC unroll 6
    for (int i = 0; i < Step::kOut; ++i) middle[i][j] = out[i];
  }
#pragma GCC unroll 6
  for (int i = 0; i < Step::kOut; ++i) {
    V out[Step::kOut];
    Step::Apply(middle[i], out);
#pragma GCC unroll 6
    for (int j = 0; j < Step::kOut; ++j) store(i, j, out[j]);
  }
}

template <class Step>
void FromPixels(const float* const* pixels, int64_t channels, int64_t stride, float* spectrum) {
  OverChannels(hn::ScalableTag<float>(), 0, channels, [&](auto d, int64_t c) HWY_ATTR {
    BothWays<Step>(
        d, [&](int i, int j) HWY_ATTR { return hn::LoadU(d, pixels[Step::kIn * i + j] + c); },
        [&](int i, int j, auto value)
            HWY_ATTR { hn::StoreU(value, d, spectrum + (6 * i + j) * stride + c); });
  });
}

void WinogradInputF32(const float* const* pixels, int64_t channels, int64_t stride,
                      float* spectrum) {
  FromPixels<InputStep>(pixels, channels, stride, spectrum);
}

void WinogradOutputGradientF32(const float* const* pixels, int64_t channels, int64_t stride,
                               float* spectrum) {
  FromPixels<OutputGradientStep>(pixels, channels, stride, spectrum);
}

void WinogradOutputF32(const float* spectrum, int64_t channels, int64_t stride, const float* bias,
                       float low, float* const* pixels) {
  OverChannels(hn::ScalableTag<float>(), 0, channels, [&](auto d, int64_t c) HWY_ATTR {
    const auto add = bias == nullptr ? hn::Zero(d) : hn::LoadU(d, bias + c);
    const auto least = hn::Set(d, low);
    BothWays<OutputStep>(
        d, [&](int i, int j) HWY_ATTR { return hn::LoadU(d, spectrum + (6 * i + j) * stride + c); },
        [&](int i, int j, auto value) HWY_ATTR {
          // In this order NaN passes.
          hn::StoreU(hn::Max(least, hn::Add(value, add)), d, pixels[4 * i + j] + c);
        });
  });
}

void WinogradWeightF32(const float* weight, bool flip, int64_t channels, int64_t stride,
                       float* spectrum) {
  const int64_t tap = flip ? -channels : channels;
  const float* first = flip ? weight + 8 * channels : weight;
  OverChannels(hn::ScalableTag<float>(), 0, channels, [&](auto d, int64_t c) HWY_ATTR {
    BothWays<WeightStep>(
        d, [&](int i, int j) HWY_ATTR { return hn::LoadU(d, first + (3 * i + j) * tap + c); },
        [&](int i, int j, auto value)
            HWY_ATTR { hn::StoreU(value, d, spectrum + (6 * i + j) * stride + c); });
  });
}

void WinogradWeightGradientF32(const float* spectrum, int64_t channels, int64_t stride,
                               float* weight) {
  OverChannels(hn::ScalableTag<float>(), 0, channels, [&](auto d, int64_t c) HWY_ATTR {
    BothWays<WeightGradientStep>(
        d, [&](int i, int j) HWY_ATTR { return hn::LoadU(d, spectrum + (6 * i + j) * stride + c); },
        [&](int i, int j, auto value)
            HWY_ATTR { hn::StoreU(value, d, weight + (3 * i + j) * channels + c); });
  });
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

HWY_EXPORT(WinogradInputF32);
HWY_EXPORT(WinogradOutputF32);
HWY_EXPORT(WinogradOutputGradientF32);
HWY_EXPORT(WinogradWeightF32);
HWY_EXPORT(WinogradWeightGradientF32);

void WinogradInput(const float* const* pixels, int64_t channels, int64_t stride, float* spectrum) {
  HWY_DYNAMIC_DISPATCH(WinogradInputF32)(pixels, channels, stride, spectrum);
}

void WinogradOutput(const float* spectrum, int64_t channels, int64_t stride, const float* bias,
                    float low, float* const* pixels) {
  HWY_DYNAMIC_DISPATCH(WinogradOutputF32)(spectrum, channels, stride, bias, low, pixels);
}

void WinogradOutputGradient(const float* const* pixels, int64_t channels, int64_t stride,
                            float* spectrum) {
  HWY_DYNAMIC_DISPATCH(WinogradOutputGradientF32)(pixels, channels, stride, spectrum);
}

void WinogradWeight(const float* weight, bool flip, int64_t channels, int64_t stride,
                    float* spectrum) {
  HWY_DYNAMIC_DISPATCH(WinogradWeightF32)(weight, flip, channels, stride, spectrum);
}

void WinogradWeightGradient(const float* spectrum, int64_t channels, int64_t stride,
                            float* weight) {
  HWY_DYNAMIC_DISPATCH(WinogradWeightGradientF32)(spectrum, channels, stride, weight);
}

}  // namespace torus::cpu
#endif  // HWY_ONCE
