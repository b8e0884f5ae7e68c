// Casts of one element between any two dtypes, the same on host and GPU.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "runtime/dtype.h"
#include "runtime/host_device.h"

namespace torus {

// IEEE 754 binary16 to binary32; exact.
TORUS_HOST_DEVICE inline float HalfBitsToFloat(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16, rest = half & 0x7fffu;
  if (rest >= 0x7c00u) return std::bit_cast<float>(sign | (rest << 13) | 0x7f800000u);
  // Scaling by 2^112 moves the exponent's bias from 15 to 127, and makes normal numbers of denormal
  // ones.
  const float magnitude = std::bit_cast<float>(rest << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

// Rounded to nearest even; overflow gives infinity, NaN stays NaN.
TORUS_HOST_DEVICE inline uint16_t FloatToHalfBits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | (rest >> 13 & 0x1ffu));
  if (rest >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and above
  if (rest < 0x38800000u) {
    // Denormal or zero: adding 0.5 leaves the half's last bit at the float's last bit, rounded by
    // the addition.
    const float shifted = std::bit_cast<float>(rest) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t odd = rest >> 13 & 1u;
  return static_cast<uint16_t>(sign | (rest - 0x38000000u + 0xfffu + odd) >> 13);
}

// Rounded to nearest even; NaN stays NaN. The upper half of the float32.
TORUS_HOST_DEVICE inline uint16_t FloatToBFloatBits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// The functor behind Copy between dtypes and Fill on a GPU. Casts like C++; 16-bit floats are cast
// via float. The CPU uses machine instructions instead (runtime/cpu/kernels.cc), with equal bits.
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
