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
  static constexpr int kPack = kPackOf<T>;
  MapOperand<T> gate, up, dy;
  T *dgate, *dup;

  // Those of one element.
  static __device__ void Set(T gate, T up, T dy, T& dgate, T& dup) {
    const auto a = Widened(gate), g = Widened(dy);
    dgate = RoundedTo<T>(ops::SiluFunctor{}.Backward(a, g * Widened(up)));
    dup = RoundedTo<T>(g * ops::SiluFunctor{}.Forward(a));
  }
  __device__ void Take(int64_t first) const {
    const Pack<T, kPack> a = gate.template Load<kPack>(first), b = up.template Load<kPack>(first),
                         g = dy.template Load<kPack>(first);
    Pack<T, kPack> da, db;
    TORUS_UNROLL
    for (int k = 0; k < kPack; ++k) Set(a.at[k], b.at[k], g.at[k], da.at[k], db.at[k]);
    *reinterpret_cast<Pack<T, kPack>*>(dgate + first) = da;
    *reinterpret_cast<Pack<T, kPack>*>(dup + first) = db;
  }
  __device__ void TakeOne(int64_t i) const {
    Set(gate.At(i), up.At(i), dy.At(i), dgate[i], dup[i]);
  }
  bool IsAligned() const {
    const auto aligned = [](const T* data) {
      return MapOperand<T>{data}.template IsAligned<kPack>();
    };
    return aligned(gate.data) && aligned(up.data) && aligned(dy.data) && aligned(dgate) &&
           aligned(dup);
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
    RunMap("swiglu", dy.numel(), stream,
           GatedGradients<T>{{Elements<T>(gate)},
                             {Elements<T>(up)},
                             {Elements<T>(dy)},
                             MutableElements<T>(dgate),
                             MutableElements<T>(dup)});
  });
}

}  // namespace torus::cuda
