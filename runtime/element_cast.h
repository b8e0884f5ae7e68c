// Casts of one element between any two dtypes, the same on host and GPU.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "runtime/dtype.h"
#include "runtime/half_bits.h"
#include "runtime/host_device.h"

namespace torus {

// Rounded to nearest even; NaN stays NaN. The upper half of the float32. On a GPU an instruction;
// only the bits of a NaN differ.
TORUS_HOST_DEVICE inline uint16_t FloatToBFloatBits(float value) {
#ifdef __CUDA_ARCH__
  uint16_t rounded;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
  return rounded;
#else
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
}

// The functor behind Copy between dtypes and Fill on a GPU. Casts like C++; 16-bit floats are cast
// via float. The CPU uses machine instructions where it has them (runtime/cpu/cast_elements.h),
// with equal bits.
template <class To, class From>
struct ElementCast {
  TORUS_HOST_DEVICE To operator()(From value) const {
    if constexpr (std::is_same_v<From, Float16>) {
      return ElementCast<To, float>()(HalfBitsToFloat(value.bits));
    } else if constexpr (std::is_same_v<From, BFloat16>) {
      return ElementCast<To, float>()(std::bit_cast<float>(uint32_t{value.bits} << 16));
    } else if constexpr (std::is_same_v<To, Float16>) {
      To out;
      out.bits = FloatToHalfBits(static_cast<float>(value));
      return out;
    } else if constexpr (std::is_same_v<To, BFloat16>) {
      To out;
      out.bits = FloatToBFloatBits(static_cast<float>(value));
      return out;
    } else {
      return static_cast<To>(value);
    }
  }
};

}  // namespace torus
