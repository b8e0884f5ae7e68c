// f32 loops of vectorised functors; include it after hwy/highway.h.
//
// For a functor FFunctor and its vector form FVector, with Forward(d, x) and Backward(d, kept, g),
// write TORUS_VECTOR_MAP(F) in torus::cpu::HWY_NAMESPACE for every vector width, and once
// TORUS_EXPORT_VECTOR_MAP(F) in torus::cpu.
#include "hwy/highway.h"
#include "ops/cpu/rows-inl.h"
#include "ops/elementwise/cpu/map_loops.h"

// The guard toggles with each pass of foreach_target.h.
#if defined(TORUS_OPS_MAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORUS_OPS_MAP_INL_H_
#undef TORUS_OPS_MAP_INL_H_
#else
#define TORUS_OPS_MAP_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class F>
void Forward(int64_t n, const float* x, float* y) {
  const hn::ScalableTag<float> d;
  OverRow(d, n, [&](auto part, auto, int64_t i) HWY_ATTR {
    part.Store(F::Forward(d, part.Load(d, x + i)), d, y + i);
  });
}

template <class F>
void Backward(int64_t n, const float* kept, const float* dy, float* dx) {
  const hn::ScalableTag<float> d;
  OverRow(d, n, [&](auto part, auto, int64_t i) HWY_ATTR {
    part.Store(F::Backward(d, part.Load(d, kept + i), part.Load(d, dy + i)), d, dx + i);
  });
}

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef TORUS_VECTOR_MAP
#define TORUS_VECTOR_MAP(F)                                                                \
  void F##ForwardF32(int64_t n, const float* x, float* y) { Forward<F##Vector>(n, x, y); } \
  void F##BackwardF32(int64_t n, const float* kept, const float* dy, float* dx) {          \
    Backward<F##Vector>(n, kept, dy, dx);                                                  \
  }

// Elements are independent, and the last ones of a piece go through the same instructions, so the
// split changes no bits.
#undef TORUS_EXPORT_VECTOR_MAP
#define TORUS_EXPORT_VECTOR_MAP(F)                                                             \
  HWY_EXPORT(F##ForwardF32);                                                                   \
  HWY_EXPORT(F##BackwardF32);                                                                  \
  template <>                                                                                  \
  void MapForward(const ops::F##Functor&, int64_t n, const float* x, float* y) {               \
    ParallelFor(n, kMapGrain, [=](int64_t begin, int64_t end) {                                \
      HWY_DYNAMIC_DISPATCH(F##ForwardF32)(end - begin, x + begin, y + begin);                  \
    });                                                                                        \
  }                                                                                            \
  template <>                                                                                  \
  void MapBackward(const ops::F##Functor&, int64_t n, const float* kept, const float* dy,      \
                   float* dx) {                                                                \
    ParallelFor(n, kMapGrain, [=](int64_t begin, int64_t end) {                                \
      HWY_DYNAMIC_DISPATCH(F##BackwardF32)(end - begin, kept + begin, dy + begin, dx + begin); \
    });                                                                                        \
  }

#endif
