#include <type_traits>

#include "runtime/cuda/kernels.h"
#include "runtime/cuda/strided.h"
#include "runtime/element_cast.h"
//
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/map_packs.h"

namespace torus::cuda {
namespace {

template <class To, class From>
struct CastTo {
  __device__ To operator()(From value) const { return ElementCast<To, From>()(value); }
};

template <class To, class From>
struct CopyWalk {
  const From* in;
  To* out;
  StridedWalk<2> walk;
  __device__ void operator()(int64_t i) const {
    const auto places = walk(i);
    out[places.at[1]] = ElementCast<To, From>()(in[places.at[0]]);
  }
};

// As CopyWalk, of `pack` elements at a time: the walk counts packs.
template <class To, class From, int pack>
struct CopyPacks {
  const Pack<From, pack>* in;
  Pack<To, pack>* out;
  StridedWalk<2> walk;
  __device__ void operator()(int64_t i) const {
    const auto places = walk(i);
    const Pack<From, pack> from = in[places.at[0]];
    Pack<To, pack> to;
    TORUS_UNROLL
    for (int k = 0; k < pack; ++k) to.at[k] = ElementCast<To, From>()(from.at[k]);
    out[places.at[1]] = to;
  }
};

template <class T>
struct SumOfTwo {
  __device__ T operator()(T a, T b) const {
    using Sum = SumOf<T>;
    const ElementCast<Sum, T> wide;
    return ElementCast<T, Sum>()(static_cast<Sum>(wide(a) + wide(b)));
  }
};

template <class T>
struct ScaledBy {
  T factor;
  __device__ T operator()(T value) const { return value * factor; }
};

template <class T>
struct CountFrom0 {
  T* out;
  __device__ void operator()(int64_t i) const { out[i] = ElementCast<T, int64_t>()(i); }
};

template <class T>
struct FillMap {
  static constexpr int kPack = kPackOf<T>;
  T* out;
  T value;
  __device__ void Take(int64_t first) const {
    Pack<T, kPack> pack;
    TORUS_UNROLL
    for (T& element : pack.at) element = value;
    *reinterpret_cast<Pack<T, kPack>*>(out + first) = pack;
  }
  __device__ void TakeOne(int64_t i) const { out[i] = value; }
  bool IsAligned() const { return MapOperand<T>{out}.template IsAligned<kPack>(); }
};

// The types whose copies go by packs: those of activations and weights, and any type's own.
template <class To, class From>
constexpr bool MovesByPacks() {
  constexpr auto kOften = []<class T>(T) {
    return std::is_same_v<T, float> || std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;
  };
  return std::is_same_v<To, From> || (kOften(To()) && kOften(From()));
}

// The plan in packs of so many elements, if all operands' rows consist of whole ones that lie at
// multiples of a pack; else of rank 0.
BroadcastPlan InPacks(BroadcastPlan plan, int pack) {
  const int last = plan.shape.rank() - 1;
  bool whole = last >= 0 && plan.shape[last] % pack == 0;
  for (int k = 0; k < plan.operands && whole; ++k)
    for (int d = 0; d <= last; ++d) {
      int64_t& stride = plan.strides[k][d];
      whole &= d == last ? stride == 1 : stride % pack == 0;
      if (d < last) stride /= pack;
    }
  if (!whole) return {};
  plan.shape[last] /= pack;
  return plan;
}

template <class To, class From>
void CopyAs(const From* in, To* out, const BroadcastPlan& plan, StreamHandle stream) {
  if constexpr (MovesByPacks<To, From>()) {
    const UnaryMap<CastTo<To, From>, To, From> map{{}, out, {in}};
    if (plan.shape.rank() == 1 && plan.strides[0][0] == 1 && plan.strides[1][0] == 1)
      return RunMap("copy", Numel(plan.shape), stream, map);
    constexpr int kPack = kPackOf<To, From>;
    const BroadcastPlan packs = InPacks(plan, kPack);
    if (packs.shape.rank() > 0 && map.IsAligned())
      return ForEach(
          "copy", Numel(packs.shape), stream,
          CopyPacks<To, From, kPack>{reinterpret_cast<const Pack<From, kPack>*>(in),
                                     reinterpret_cast<Pack<To, kPack>*>(out), WalkOf<2>(packs)});
  }
  ForEach("copy", Numel(plan.shape), stream, CopyWalk<To, From>{in, out, WalkOf<2>(plan)});
}

}  // namespace

void Fill(void* out, DType dtype, int64_t count, double value, StreamHandle stream) {
  VisitDType(dtype, [&](auto zero) {
    using T = decltype(zero);
    RunMap("fill", count, stream,
           FillMap<T>{static_cast<T*>(out), ElementCast<T, double>()(value)});
  });
}

void CopyStrided(const void* in, DType from, void* out, DType to, const BroadcastPlan& plan,
                 StreamHandle stream) {
  VisitDType(from, [&](auto from_zero) {
    VisitDType(to, [&](auto to_zero) {
      using From = decltype(from_zero);
      using To = decltype(to_zero);
      CopyAs(static_cast<const From*>(in), static_cast<To*>(out), plan, stream);
    });
  });
}

void AddInPlace(void* out, const void* in, DType dtype, int64_t count, StreamHandle stream) {
  VisitDType(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, uint8_t>) {
      T* const to = static_cast<T*>(out);
      RunMap("add_in_place", count, stream,
             BinaryMap<SumOfTwo<T>, T, T, T>{{}, to, {to}, {static_cast<const T*>(in)}});
    }
  });
}

void ScaleInPlace(void* out, DType dtype, int64_t count, double factor, StreamHandle stream) {
  VisitCompute("scale_in_place", dtype, [&]<class T>(ComputeType<T>) {
    T* const to = static_cast<T*>(out);
    RunMap("scale_in_place", count, stream,
           UnaryMap<ScaledBy<T>, T, T>{{static_cast<T>(factor)}, to, {to}});
  });
}

void FillArange(void* out, DType dtype, int64_t count, StreamHandle stream) {
  VisitDType(dtype, [&](auto zero) {
    using T = decltype(zero);
    ForEach("count", count, stream, CountFrom0<T>{static_cast<T*>(out)});
  });
}

}  // namespace torus::cuda
