#include "parallel/optim/sgd_kernel.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "parallel/optim/sgd_kernel.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace torus::parallel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void UpdateVector(T* parameter, const T* gradient, T* buffer, const SgdScalars& s) {
  const hn::ScalableTag<T> d;
  const auto constant = [&](double value) { return hn::Set(d, static_cast<T>(value)); };
  const auto p = hn::LoadU(d, parameter);
  auto step = hn::Mul(hn::LoadU(d, gradient), constant(s.gradient_scale));
  if (s.weight_decay != 0) step = hn::MulAdd(p, constant(s.weight_decay), step);
  if (buffer != nullptr) {
    auto b = step;
    if (!s.first)
      b = hn::MulAdd(step, constant(1 - s.dampening),
                     hn::Mul(hn::LoadU(d, buffer), constant(s.momentum)));
    hn::StoreU(b, d, buffer);
    step = s.nesterov ? hn::MulAdd(b, constant(s.momentum), step) : b;
  }
  hn::StoreU(hn::MulAdd(step, constant(-s.learning_rate), p), d, parameter);
}

// The last few elements go through the same instructions, so that the bits do not depend on where
// threads split a tensor.
template <class T>
void UpdateTail(T* parameter, const T* gradient, T* buffer, int64_t count, const SgdScalars& s) {
  constexpr size_t kMost = HWY_MAX_BYTES / sizeof(T);
  T p[kMost] = {}, g[kMost] = {}, b[kMost] = {};
  std::copy_n(parameter, count, p);
  std::copy_n(gradient, count, g);
  if (buffer != nullptr) std::copy_n(buffer, count, b);
  UpdateVector<T>(p, g, buffer != nullptr ? b : nullptr, s);
  std::copy_n(p, count, parameter);
  if (buffer != nullptr) std::copy_n(b, count, buffer);
}

template <class T>
void Update(T* parameter, const T* gradient, T* buffer, int64_t count, const SgdScalars& s) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const auto at = [&](int64_t i) { return buffer != nullptr ? buffer + i : nullptr; };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) UpdateVector<T>(parameter + i, gradient + i, at(i), s);
  if (i < count) UpdateTail<T>(parameter + i, gradient + i, at(i), count - i, s);
}

void UpdateF32(float* parameter, const float* gradient, float* buffer, int64_t count,
               const SgdScalars& s) {
  Update(parameter, gradient, buffer, count, s);
}

void UpdateF64(double* parameter, const double* gradient, double* buffer, int64_t count,
               const SgdScalars& s) {
  Update(parameter, gradient, buffer, count, s);
}

}  // namespace torus::parallel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::parallel {

HWY_EXPORT(UpdateF32);
HWY_EXPORT(UpdateF64);

void SgdUpdate(float* parameter, const float* gradient, float* buffer, int64_t count,
               const SgdScalars& scalars) {
  HWY_DYNAMIC_DISPATCH(UpdateF32)(parameter, gradient, buffer, count, scalars);
}

void SgdUpdate(double* parameter, const double* gradient, double* buffer, int64_t count,
               const SgdScalars& scalars) {
  HWY_DYNAMIC_DISPATCH(UpdateF64)(parameter, gradient, buffer, count, scalars);
}

}  // namespace torus::parallel
#endif  // HWY_ONCE
