// The kernels behind map.h, for the sources that instantiate them: TORUS_INSTANTIATE_MAP(Functor).
#pragma once

#include "ops/elementwise/cuda/map.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/for_each.h"
#include "runtime/element_cast.h"

namespace torus::cuda {

// 16 bits are computed in f32 and rounded once.
template <class T>
__device__ SumOf<T> Widened(T value) {
  return ElementCast<SumOf<T>, T>()(value);
}
template <class T>
__device__ T RoundedTo(SumOf<T> value) {
  return ElementCast<T, SumOf<T>>()(value);
}

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

// Calls visit for f32, f64, bf16 or f16; BadInput tagged `op` for another dtype.
template <class Visit>
void VisitMapped(std::string_view op, DType dtype, const Visit& visit) {
  if (dtype == DType::kBF16) return visit(ComputeType<BFloat16>{});
  if (dtype == DType::kF16) return visit(ComputeType<Float16>{});
  VisitCompute(op, dtype, visit);
}

template <class F>
void MapForward(std::string_view op, const F& f, const Tensor& x, Tensor& y, StreamHandle stream) {
  VisitMapped(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(op, x.numel(), stream, MappedForward<F, T>{f, Elements<T>(x), MutableElements<T>(y)});
  });
}

template <class F>
void MapBackward(std::string_view op, const F& f, const Tensor& kept, const Tensor& dy, Tensor& dx,
                 StreamHandle stream) {
  VisitMapped(op, kept.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(op, kept.numel(), stream,
            MappedBackward<F, T>{f, Elements<T>(kept), Elements<T>(dy), MutableElements<T>(dx)});
  });
}

}  // namespace torus::cuda

#define TORUS_INSTANTIATE_MAP(F)                                                                   \
  template void MapForward(std::string_view, const ops::F&, const Tensor&, Tensor&, StreamHandle); \
  template void MapBackward(std::string_view, const ops::F&, const Tensor&, const Tensor&,         \
                            Tensor&, StreamHandle);
