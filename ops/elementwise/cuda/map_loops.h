// The kernels of map.h, for sources that instantiate them with TORUS_INSTANTIATE_MAP(Functor).
#pragma once

#include "ops/elementwise/kernels.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/floats.h"
#include "runtime/cuda/map_packs.h"

namespace torus::cuda {

template <class F, class T>
struct MappedForward {
  F f;
  __device__ T operator()(T x) const { return RoundedTo<T>(f.Forward(Widened(x))); }
};

template <class F, class T>
struct MappedBackward {
  F f;
  __device__ T operator()(T kept, T dy) const {
    return RoundedTo<T>(f.Backward(Widened(kept), Widened(dy)));
  }
};

template <class F>
void MapForward(std::string_view op, const F& f, const Tensor& x, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  VisitFloats(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    RunMap(op, x.numel(), stream,
           UnaryMap<MappedForward<F, T>, T, T>{{f}, MutableElements<T>(y), {Elements<T>(x)}});
  });
}

template <class F>
void MapBackward(std::string_view op, const F& f, const Tensor& kept, const Tensor& dy,
                 Tensor& dx) {
  const StreamHandle stream = CurrentStream(dx.device());
  VisitFloats(op, kept.dtype(), [&]<class T>(ComputeType<T>) {
    RunMap(op, kept.numel(), stream,
           BinaryMap<MappedBackward<F, T>, T, T, T>{
               {f}, MutableElements<T>(dx), {Elements<T>(kept)}, {Elements<T>(dy)}});
  });
}

}  // namespace torus::cuda

// For a functor without Backward.
#define TORUS_INSTANTIATE_MAP_FORWARD(F) \
  template void MapForward(std::string_view, const ops::F&, const Tensor&, Tensor&);

#define TORUS_INSTANTIATE_MAP(F)   \
  TORUS_INSTANTIATE_MAP_FORWARD(F) \
  template void MapBackward(std::string_view, const ops::F&, const Tensor&, const Tensor&, Tensor&);
