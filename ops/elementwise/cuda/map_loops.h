// The kernels of map.h, for sources that instantiate them with TORUS_INSTANTIATE_MAP(Functor).
#pragma once

#include "ops/elementwise/cuda/map.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/floats.h"
#include "runtime/cuda/for_each.h"

namespace torus::cuda {

template <class F, class T>
struct MappedForward {
  F f;
  const T* x;
  T* y;
  __device__ void operator()(int64_t i) const { y[i] = RoundedTo<T>(f.Forward(Widened(x[i]))); }
};

template <class F, class T>
struct MappedBackward {
  F f;
  const T *kept, *dy;
  T* dx;
  __device__ void operator()(int64_t i) const {
    dx[i] = RoundedTo<T>(f.Backward(Widened(kept[i]), Widened(dy[i])));
  }
};

template <class F>
void MapForward(std::string_view op, const F& f, const Tensor& x, Tensor& y, StreamHandle stream) {
  VisitFloats(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(op, x.numel(), stream, MappedForward<F, T>{f, Elements<T>(x), MutableElements<T>(y)});
  });
}

template <class F>
void MapBackward(std::string_view op, const F& f, const Tensor& kept, const Tensor& dy, Tensor& dx,
                 StreamHandle stream) {
  VisitFloats(op, kept.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(op, kept.numel(), stream,
            MappedBackward<F, T>{f, Elements<T>(kept), Elements<T>(dy), MutableElements<T>(dx)});
  });
}

}  // namespace torus::cuda

#define TORUS_INSTANTIATE_MAP(F)                                                                   \
  template void MapForward(std::string_view, const ops::F&, const Tensor&, Tensor&, StreamHandle); \
  template void MapBackward(std::string_view, const ops::F&, const Tensor&, const Tensor&,         \
                            Tensor&, StreamHandle);
