// Element-wise kernels over contiguous operands: a thread loads and stores 16 bytes of the widest
// one at a time. Only for kernel sources.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/cuda/for_each.h"
#include "runtime/cuda/pack.h"
#include "runtime/cuda/unroll.h"

namespace torus::cuda {

// `count` operands of one type: one after another, or a single one for all.
template <class T>
struct MapOperand {
  const T* data;
  bool single = false;

  template <int n>
  __device__ Pack<T, n> Load(int64_t first) const {
    if (!single) return *reinterpret_cast<const Pack<T, n>*>(data + first);
    Pack<T, n> pack;
    TORUS_UNROLL
    for (int k = 0; k < n; ++k) pack.at[k] = data[0];
    return pack;
  }
  __device__ T At(int64_t i) const { return data[single ? 0 : i]; }
  template <int n>
  bool IsAligned() const {
    return single || reinterpret_cast<uintptr_t>(data) % (n * sizeof(T)) == 0;
  }
};

// out = f(a)
template <class F, class Out, class A>
struct UnaryMap {
  static constexpr int kPack = kPackOf<Out, A>;
  F f;
  Out* out;
  MapOperand<A> a;

  __device__ void Take(int64_t first) const {
    const Pack<A, kPack> in = a.template Load<kPack>(first);
    Pack<Out, kPack> result;
    TORUS_UNROLL
    for (int k = 0; k < kPack; ++k) result.at[k] = f(in.at[k]);
    *reinterpret_cast<Pack<Out, kPack>*>(out + first) = result;
  }
  __device__ void TakeOne(int64_t i) const { out[i] = f(a.At(i)); }
  bool IsAligned() const {
    return MapOperand<Out>{out}.template IsAligned<kPack>() && a.template IsAligned<kPack>();
  }
};

// out = f(a, b)
template <class F, class Out, class A, class B>
struct BinaryMap {
  static constexpr int kPack = kPackOf<Out, A, B>;
  F f;
  Out* out;
  MapOperand<A> a;
  MapOperand<B> b;

  __device__ void Take(int64_t first) const {
    const Pack<A, kPack> left = a.template Load<kPack>(first);
    const Pack<B, kPack> right = b.template Load<kPack>(first);
    Pack<Out, kPack> result;
    TORUS_UNROLL
    for (int k = 0; k < kPack; ++k) result.at[k] = f(left.at[k], right.at[k]);
    *reinterpret_cast<Pack<Out, kPack>*>(out + first) = result;
  }
  __device__ void TakeOne(int64_t i) const { out[i] = f(a.At(i), b.At(i)); }
  bool IsAligned() const {
    return MapOperand<Out>{out}.template IsAligned<kPack>() && a.template IsAligned<kPack>() &&
           b.template IsAligned<kPack>();
  }
};

// Index i is pack i, or an element behind the packs.
template <class Map>
struct PacksThenRest {
  Map map;
  int64_t packs;
  __device__ void operator()(int64_t i) const {
    if (i < packs)
      map.Take(i * Map::kPack);
    else
      map.TakeOne(packs * (Map::kPack - 1) + i);
  }
};

// Runs the map over `count` elements. Operands that do not start at a pack go one element at a
// time. `out` may be an operand.
template <class Map>
void RunMap(std::string_view op, int64_t count, StreamHandle stream, const Map& map) {
  const int64_t packs = map.IsAligned() ? count / Map::kPack : 0;
  ForEach(op, packs + (count - packs * Map::kPack), stream, PacksThenRest<Map>{map, packs});
}

}  // namespace torus::cuda
