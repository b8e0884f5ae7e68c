// Packs of stored elements in the type that they are computed in: 16 bits in f32 (SumOf). Only for
// kernel sources.
#pragma once

#include <type_traits>

#include "runtime/dtype.h"
#include "runtime/element_cast.h"
//
#include "runtime/cuda/pack.h"
#include "runtime/cuda/unroll.h"

namespace torus::cuda {

// n elements in registers.
template <class Sum, int n>
struct Wide {
  Sum at[n];
};

template <class Sum, int n>
__device__ Wide<Sum, n> operator+(const Wide<Sum, n>& a, const Wide<Sum, n>& b) {
  Wide<Sum, n> sum;
  TORUS_UNROLL
  for (int k = 0; k < n; ++k) sum.at[k] = a.at[k] + b.at[k];
  return sum;
}

namespace internal {

// Two 16-bit elements of a 32-bit register, the first in its lower half. On a GPU an instruction or
// two; elsewhere ElementCast. Both give the same bits, but for those of NaN.
template <class T>
__device__ void WidenTwo(const Pack<T, 2>& two, float& first, float& second) {
#ifdef __CUDA_ARCH__
  const uint32_t word = *reinterpret_cast<const uint32_t*>(&two);
  if constexpr (std::is_same_v<T, BFloat16>) {
    first = __uint_as_float(word << 16);
    second = __uint_as_float(word & 0xffff0000u);
  } else {
    asm("{.reg .f16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high;}"
        : "=f"(first), "=f"(second)
        : "r"(word));
  }
#else
  first = ElementCast<float, T>()(two.at[0]);
  second = ElementCast<float, T>()(two.at[1]);
#endif
}

#ifndef __CUDACC__
// The bits of a 16-bit float. Not inlined, so that a tool can tell it from other instructions: a
// GPU has one for it. Bits, since a store of what a call returns is not instrumented.
template <class T>
[[gnu::noipa]] uint16_t RoundedBits(float value) noexcept {
  return ElementCast<T, float>()(value).bits;
}
#endif

// Rounds to nearest even.
template <class T>
__device__ T Rounded(SumOf<T> value) {
#ifndef __CUDACC__
  if constexpr (sizeof(T) == 2) {
    T rounded;
    rounded.bits = RoundedBits<T>(value);
    return rounded;
  }
#endif
  return ElementCast<T, SumOf<T>>()(value);
}

// Rounds to nearest even.
template <class T>
__device__ Pack<T, 2> RoundTwo(float first, float second) {
  Pack<T, 2> two;
#ifdef __CUDA_ARCH__
  uint32_t word;
  if constexpr (std::is_same_v<T, BFloat16>)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  *reinterpret_cast<uint32_t*>(&two) = word;
#else
  two.at[0] = Rounded<T>(first);
  two.at[1] = Rounded<T>(second);
#endif
  return two;
}

// Whether a pack is converted by pairs. A host's compiler may take a larger pack and the pairs in
// it for different objects, and read what was there before.
#ifdef __CUDA_ARCH__
template <class T, int n>
inline constexpr bool kByPairs = sizeof(T) == 2 && n % 2 == 0;
#else
template <class T, int n>
inline constexpr bool kByPairs = sizeof(T) == 2 && n == 2;
#endif

}  // namespace internal

// Any type that is computed in, and 16-bit ones.
template <class T, int n>
__device__ Wide<SumOf<T>, n> WidenPack(const Pack<T, n>& pack) {
  Wide<SumOf<T>, n> wide;
  if constexpr (internal::kByPairs<T, n>) {
    const auto* const pairs = reinterpret_cast<const Pack<T, 2>*>(&pack);
    TORUS_UNROLL
    for (int k = 0; k < n / 2; ++k)
      internal::WidenTwo(pairs[k], wide.at[2 * k], wide.at[2 * k + 1]);
  } else {
    TORUS_UNROLL
    for (int k = 0; k < n; ++k) wide.at[k] = ElementCast<SumOf<T>, T>()(pack.at[k]);
  }
  return wide;
}

// Rounds to nearest even. Inlined, since a store of what a call returns is not instrumented.
template <class T, int n>
[[gnu::always_inline]] __device__ inline Pack<T, n> RoundPack(const Wide<SumOf<T>, n>& wide) {
  Pack<T, n> pack;
  if constexpr (internal::kByPairs<T, n>) {
    auto* const pairs = reinterpret_cast<Pack<T, 2>*>(&pack);
    TORUS_UNROLL
    for (int k = 0; k < n / 2; ++k)
      pairs[k] = internal::RoundTwo<T>(wide.at[2 * k], wide.at[2 * k + 1]);
  } else {
    TORUS_UNROLL
    for (int k = 0; k < n; ++k) pack.at[k] = internal::Rounded<T>(wide.at[k]);
  }
  return pack;
}

// a, rounded to T, plus b: nothing of a's computation is fused with the addition.
template <class T, int n>
__device__ Wide<SumOf<T>, n> SumOfRounded(const Wide<SumOf<T>, n>& a, const Wide<SumOf<T>, n>& b) {
  Wide<SumOf<T>, n> sum = WidenPack(RoundPack<T>(a));
  TORUS_UNROLL
  for (int k = 0; k < n; ++k) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<SumOf<T>, float>)
      sum.at[k] = __fadd_rn(sum.at[k], b.at[k]);
    else
      sum.at[k] = __dadd_rn(sum.at[k], b.at[k]);
#else
    const volatile SumOf<T> rounded = sum.at[k];
    sum.at[k] = rounded + b.at[k];
#endif
  }
  return sum;
}

// The n elements from `from` on, which is aligned to them, in one load.
template <int n, class T>
__device__ Wide<SumOf<T>, n> ReadWide(const T* from) {
  const Pack<T, n> pack = *reinterpret_cast<const Pack<T, n>*>(from);
  return WidenPack(pack);
}

template <class T, int n>
__device__ void WriteRounded(const Wide<SumOf<T>, n>& wide, T* to) {
  *reinterpret_cast<Pack<T, n>*>(to) = RoundPack<T>(wide);
}

// The first `count` of n elements, the others zero; in one load if all are wanted and `from` is
// aligned to them.
template <int n, class T>
__device__ Wide<SumOf<T>, n> ReadSome(const T* from, int count, bool aligned) {
  if (aligned && count >= n) return ReadWide<n>(from);
  Wide<SumOf<T>, n> wide{};
  TORUS_UNROLL
  for (int k = 0; k < n; ++k)
    if (k < count) wide.at[k] = ElementCast<SumOf<T>, T>()(from[k]);
  return wide;
}

// Writes the first `count` of n elements, likewise.
template <class T, int n>
__device__ void WriteSome(const Wide<SumOf<T>, n>& wide, T* to, int count, bool aligned) {
  if (aligned && count >= n) return WriteRounded(wide, to);
  TORUS_UNROLL
  for (int k = 0; k < n; ++k)
    if (k < count) to[k] = internal::Rounded<T>(wide.at[k]);
}

}  // namespace torus::cuda
