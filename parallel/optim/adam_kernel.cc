#include "parallel/optim/adam_kernel.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "parallel/optim/adam_kernel.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace torus::parallel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void UpdateVector(const AdamTensors<T>& t, int64_t at, const AdamConstants<T>& c) {
  const hn::ScalableTag<T> d;
  const auto all = [&](T value) HWY_ATTR { return hn::Set(d, value); };
  auto p = hn::LoadU(d, t.parameter + at);
  auto g = hn::Mul(hn::LoadU(d, t.gradient + at), all(c.scale));
  if (c.decays) {
    if (c.decoupled)
      p = hn::Mul(p, all(c.decay));
    else
      g = hn::MulAdd(p, all(c.decay), g);
  }
  auto m = hn::LoadU(d, t.mean + at);
  const auto difference = hn::Sub(g, m);
  m = c.rest1 < T(0.5) ? hn::MulAdd(difference, all(c.rest1), m)
                       : hn::NegMulAdd(difference, all(c.beta1), g);
  auto v =
      hn::MulAdd(hn::Mul(g, all(c.rest2)), g, hn::Mul(hn::LoadU(d, t.variance + at), all(c.beta2)));
  hn::StoreU(m, d, t.mean + at);
  hn::StoreU(v, d, t.variance + at);
  if (t.largest != nullptr) {
    v = hn::Max(hn::LoadU(d, t.largest + at), v);  // in this order NaN passes
    hn::StoreU(v, d, t.largest + at);
  }
  const auto denominator = hn::MulAdd(hn::Sqrt(v), all(c.correction), all(c.eps));
  hn::StoreU(hn::Add(p, hn::Div(hn::Mul(m, all(c.size)), denominator)), d, t.parameter + at);
}

// The last few elements go through the same instructions, so that the bits do not depend on where
// threads split a tensor.
template <class T>
void UpdateTail(const AdamTensors<T>& t, int64_t at, int64_t count, const AdamConstants<T>& c) {
  constexpr size_t kMost = HWY_MAX_BYTES / sizeof(T);
  T p[kMost] = {}, g[kMost] = {}, m[kMost] = {}, v[kMost] = {}, l[kMost] = {};
  std::copy_n(t.parameter + at, count, p);
  std::copy_n(t.gradient + at, count, g);
  std::copy_n(t.mean + at, count, m);
  std::copy_n(t.variance + at, count, v);
  if (t.largest != nullptr) std::copy_n(t.largest + at, count, l);
  UpdateVector<T>({p, g, m, v, t.largest != nullptr ? l : nullptr}, 0, c);
  std::copy_n(p, count, t.parameter + at);
  std::copy_n(m, count, t.mean + at);
  std::copy_n(v, count, t.variance + at);
  if (t.largest != nullptr) std::copy_n(l, count, t.largest + at);
}

template <class T>
void Update(const AdamTensors<T>& t, int64_t count, const AdamConstants<T>& constants) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  int64_t at = 0;
  for (; at + lanes <= count; at += lanes) UpdateVector(t, at, constants);
  if (at < count) UpdateTail(t, at, count - at, constants);
}

void AdamF32(const AdamTensors<float>& t, int64_t count, const AdamConstants<float>& c) {
  Update(t, count, c);
}

void AdamF64(const AdamTensors<double>& t, int64_t count, const AdamConstants<double>& c) {
  Update(t, count, c);
}

}  // namespace torus::parallel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::parallel {

template <class T>
AdamConstants<T>::AdamConstants(const AdamScalars& s)
    : scale(static_cast<T>(s.gradient_scale)),
      decay(static_cast<T>(s.decoupled ? 1 - s.learning_rate * s.weight_decay : s.weight_decay)),
      rest1(static_cast<T>(1 - s.beta1)),
      beta1(T(1) - rest1),
      beta2(static_cast<T>(s.beta2)),
      rest2(static_cast<T>(1 - s.beta2)),
      correction(static_cast<T>(1 / std::sqrt(1 - std::pow(s.beta2, s.step)))),
      eps(static_cast<T>(s.eps)),
      size(static_cast<T>(-s.learning_rate / (1 - std::pow(s.beta1, s.step)))),
      decoupled(s.decoupled),
      decays(s.weight_decay != 0) {}

template struct AdamConstants<float>;
template struct AdamConstants<double>;

HWY_EXPORT(AdamF32);
HWY_EXPORT(AdamF64);

void AdamUpdate(const AdamTensors<float>& tensors, int64_t count, const AdamScalars& scalars) {
  HWY_DYNAMIC_DISPATCH(AdamF32)(tensors, count, AdamConstants<float>(scalars));
}

void AdamUpdate(const AdamTensors<double>& tensors, int64_t count, const AdamScalars& scalars) {
  HWY_DYNAMIC_DISPATCH(AdamF64)(tensors, count, AdamConstants<double>(scalars));
}

}  // namespace torus::parallel
#endif  // HWY_ONCE
