#include "ops/activation/activation_kernel.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kGrain = 1 << 13;  // elements a thread is worth waking for

}  // namespace

// Each element is its own: the split changes no bits.
template <class F, class T>
void MapForward(const F& f, int64_t n, const T* x, T* y) {
  ParallelFor(n, kGrain, [f, x, y](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = f.Forward(x[i]);
  });
}

template <class F, class T>
void MapBackward(const F& f, int64_t n, const T* kept, const T* dy, T* dx) {
  ParallelFor(n, kGrain, [f, kept, dy, dx](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) dx[i] = f.Backward(kept[i], dy[i]);
  });
}

#define TORUS_INSTANTIATE_FOR(F, T)                          \
  template void MapForward(const F&, int64_t, const T*, T*); \
  template void MapBackward(const F&, int64_t, const T*, const T*, T*);
#define TORUS_INSTANTIATE(F)           \
  TORUS_INSTANTIATE_FOR(ops::F, float) \
  TORUS_INSTANTIATE_FOR(ops::F, double)
TORUS_INSTANTIATE(HardtanhFunctor)
TORUS_INSTANTIATE(ReluFunctor)
TORUS_INSTANTIATE(LeakyReluFunctor)
TORUS_INSTANTIATE(LogSigmoidFunctor)
TORUS_INSTANTIATE(SoftplusFunctor)
TORUS_INSTANTIATE(LogFunctor)
TORUS_INSTANTIATE(SqrtFunctor)
TORUS_INSTANTIATE(RsqrtFunctor)
TORUS_INSTANTIATE(AbsFunctor)
// Those of float are in activation_vector.cc.
#define TORUS_INSTANTIATE_F64(F) TORUS_INSTANTIATE_FOR(ops::F, double)
TORUS_VECTORISED_FUNCTORS(TORUS_INSTANTIATE_F64)
#undef TORUS_INSTANTIATE_F64
#undef TORUS_INSTANTIATE
#undef TORUS_INSTANTIATE_FOR

}  // namespace torus::cpu
