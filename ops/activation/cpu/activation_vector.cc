// The f32 loops of the activation functions that need exp, once for every vector width.
#include "ops/activation/activation_functors.h"
#include "ops/activation/cpu/swiglu_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/cpu/activation_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "ops/activation/cpu/activation-inl.h"
#include "ops/elementwise/cpu/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {

TORUS_VECTOR_MAP(Sigmoid)
TORUS_VECTOR_MAP(Tanh)
TORUS_VECTOR_MAP(Silu)
TORUS_VECTOR_MAP(Gelu)
TORUS_VECTOR_MAP(GeluTanh)

void SwigluF32(int64_t n, const float* gate, const float* up, float* y) {
  const hn::ScalableTag<float> d;
  OverRow(d, n, [&](auto part, auto, int64_t i) HWY_ATTR {
    part.Store(hn::Mul(SiluVector::Forward(d, part.Load(d, gate + i)), part.Load(d, up + i)), d,
               y + i);
  });
}

void SwigluBackwardF32(int64_t n, const float* gate, const float* up, const float* dy, float* dgate,
                       float* dup) {
  const hn::ScalableTag<float> d;
  OverRow(d, n, [&](auto part, auto, int64_t i) HWY_ATTR {
    const auto a = part.Load(d, gate + i), g = part.Load(d, dy + i);
    part.Store(SiluVector::Backward(d, a, hn::Mul(g, part.Load(d, up + i))), d, dgate + i);
    part.Store(hn::Mul(g, SiluVector::Forward(d, a)), d, dup + i);
  });
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

TORUS_EXPORT_VECTOR_MAP(Sigmoid)
TORUS_EXPORT_VECTOR_MAP(Tanh)
TORUS_EXPORT_VECTOR_MAP(Silu)
TORUS_EXPORT_VECTOR_MAP(Gelu)
TORUS_EXPORT_VECTOR_MAP(GeluTanh)

HWY_EXPORT(SwigluF32);
HWY_EXPORT(SwigluBackwardF32);

void SwigluLoop(int64_t n, const float* gate, const float* up, float* y) {
  HWY_DYNAMIC_DISPATCH(SwigluF32)(n, gate, up, y);
}

void SwigluBackwardLoop(int64_t n, const float* gate, const float* up, const float* dy,
                        float* dgate, float* dup) {
  HWY_DYNAMIC_DISPATCH(SwigluBackwardF32)(n, gate, up, dy, dgate, dup);
}

}  // namespace torus::cpu
#endif  // HWY_ONCE
