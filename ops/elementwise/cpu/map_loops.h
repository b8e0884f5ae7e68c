// The loops behind map.h, for the sources that instantiate them: TORUS_INSTANTIATE_MAP(Functor).
#pragma once

#include "ops/elementwise/cpu/map.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {

constexpr int64_t kMapGrain = 1 << 13;  // elements a thread is worth waking for

// Each element is its own: the split changes no bits.
template <class F, class T>
void MapForward(const F& f, int64_t n, const T* x, T* y) {
  ParallelFor(n, kMapGrain, [f, x, y](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = f.Forward(x[i]);
  });
}

template <class F, class T>
void MapBackward(const F& f, int64_t n, const T* kept, const T* dy, T* dx) {
  ParallelFor(n, kMapGrain, [f, kept, dy, dx](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) dx[i] = f.Backward(kept[i], dy[i]);
  });
}

template <class F>
void MapForward(std::string_view op, const F& f, const Tensor& x, Tensor& y) {
  VisitCompute(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    MapForward(f, x.numel(), x.data<T>(), y.mutable_data<T>());
  });
}

template <class F>
void MapBackward(std::string_view op, const F& f, const Tensor& kept, const Tensor& dy,
                 Tensor& dx) {
  VisitCompute(op, kept.dtype(), [&]<class T>(ComputeType<T>) {
    MapBackward(f, kept.numel(), kept.data<T>(), dy.data<T>(), dx.mutable_data<T>());
  });
}

}  // namespace torus::cpu

#define TORUS_INSTANTIATE_MAP(F)                                                     \
  template void MapForward(std::string_view, const ops::F&, const Tensor&, Tensor&); \
  template void MapBackward(std::string_view, const ops::F&, const Tensor&, const Tensor&, Tensor&);

// Ahead of TORUS_INSTANTIATE_MAP for a functor whose f32 loops are vectorised elsewhere.
#define TORUS_DECLARE_VECTOR_MAP(F)                                      \
  template <>                                                            \
  void MapForward(const ops::F& f, int64_t n, const float* x, float* y); \
  template <>                                                            \
  void MapBackward(const ops::F& f, int64_t n, const float* kept, const float* dy, float* dx);
