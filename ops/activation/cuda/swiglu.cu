#include "ops/activation/activation_functors.h"
#include "ops/activation/kernels.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/floats.h"
#include "runtime/cuda/map_packs.h"

namespace torus::cuda {
namespace {

template <class T>
struct Gated {
  __device__ T operator()(T gate, T up) const {
    return RoundedTo<T>(ops::SiluFunctor{}.Forward(Widened(gate)) * Widened(up));
  }
};

template <class T>
struct GatedGradients {
  const T *gate, *up, *dy;
  T *dgate, *dup;
  __device__ void operator()(int64_t i) const {
    const auto a = Widened(gate[i]), g = Widened(dy[i]);
    dgate[i] = RoundedTo<T>(ops::SiluFunctor{}.Backward(a, g * Widened(up[i])));
    dup[i] = RoundedTo<T>(g * ops::SiluFunctor{}.Forward(a));
  }
};

}  // namespace

void Swiglu(const Tensor& gate, const Tensor& up, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  VisitFloats("swiglu", y.dtype(), [&]<class T>(ComputeType<T>) {
    RunMap("swiglu", y.numel(), stream,
           BinaryMap<Gated<T>, T, T, T>{
               {}, MutableElements<T>(y), {Elements<T>(gate)}, {Elements<T>(up)}});
  });
}

void SwigluBackward(const Tensor& gate, const Tensor& up, const Tensor& dy, Tensor& dgate,
                    Tensor& dup) {
  const StreamHandle stream = CurrentStream(dy.device());
  VisitFloats("swiglu", dy.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach("swiglu", dy.numel(), stream,
            GatedGradients<T>{Elements<T>(gate), Elements<T>(up), Elements<T>(dy),
                              MutableElements<T>(dgate), MutableElements<T>(dup)});
  });
}

}  // namespace torus::cuda
