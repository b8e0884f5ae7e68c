// The float kernels of the functions that need exp, once for every vector width.
#include "ops/activation/activation_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/activation_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "ops/activation/activation-inl.h"
#include "ops/cpu/rows-inl.h"
#include "runtime/parallel_for.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {

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

#define TORUS_EACH_FUNCTION(APPLY) \
  APPLY(Exp) APPLY(Sigmoid) APPLY(Tanh) APPLY(Silu) APPLY(Gelu) APPLY(GeluTanh)

#define TORUS_DEFINE(F)                                                                    \
  void F##ForwardF32(int64_t n, const float* x, float* y) { Forward<F##Vector>(n, x, y); } \
  void F##BackwardF32(int64_t n, const float* kept, const float* dy, float* dx) {          \
    Backward<F##Vector>(n, kept, dy, dx);                                                  \
  }
TORUS_EACH_FUNCTION(TORUS_DEFINE)
#undef TORUS_DEFINE

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

constexpr int64_t kVectorGrain = 1 << 13;  // elements a thread is worth waking for

// Each element is its own, and the last ones of a piece go through the same instructions: the split
// changes no bits.
#define TORUS_DEFINE(F)                                                                        \
  HWY_EXPORT(F##ForwardF32);                                                                   \
  HWY_EXPORT(F##BackwardF32);                                                                  \
  template <>                                                                                  \
  void MapForward(const ops::F##Functor&, int64_t n, const float* x, float* y) {               \
    ParallelFor(n, kVectorGrain, [=](int64_t begin, int64_t end) {                             \
      HWY_DYNAMIC_DISPATCH(F##ForwardF32)(end - begin, x + begin, y + begin);                  \
    });                                                                                        \
  }                                                                                            \
  template <>                                                                                  \
  void MapBackward(const ops::F##Functor&, int64_t n, const float* kept, const float* dy,      \
                   float* dx) {                                                                \
    ParallelFor(n, kVectorGrain, [=](int64_t begin, int64_t end) {                             \
      HWY_DYNAMIC_DISPATCH(F##BackwardF32)(end - begin, kept + begin, dy + begin, dx + begin); \
    });                                                                                        \
  }
TORUS_EACH_FUNCTION(TORUS_DEFINE)
#undef TORUS_DEFINE

}  // namespace torus::cpu
#endif  // HWY_ONCE
