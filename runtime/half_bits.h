// Conversions between binary16 and binary32, the same on host and GPU, where they are an
// instruction; only the bits of a NaN differ. Without branches, so that compilers make vector code
// of loops over them.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/host_device.h"

namespace torus {

// IEEE 754 binary16 to binary32; exact. NaN becomes quiet, as processors make it.
TORUS_HOST_DEVICE inline float HalfBitsToFloat(uint16_t half) {
#ifdef __CUDA_ARCH__
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
#else
  const uint32_t sign = (half & 0x8000u) << 16, rest = half & 0x7fffu, wide = rest << 13;
  // Scaling by 2^112 moves the exponent's bias from 15 to 127, and makes normal numbers of denormal
  // ones.
  const uint32_t finite = std::bit_cast<uint32_t>(std::bit_cast<float>(wide) * 0x1p112f);
  const uint32_t special = wide | 0x7f800000u | (rest > 0x7c00u ? 0x400000u : 0u);
  return std::bit_cast<float>(sign | (rest >= 0x7c00u ? special : finite));
#endif
}

// Rounded to nearest even; overflow gives infinity, NaN stays NaN.
TORUS_HOST_DEVICE inline uint16_t FloatToHalfBits(float value) {
#ifdef __CUDA_ARCH__
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  // Denormal or zero: adding 0.5 leaves the half's last bit at the float's last bit, rounded by the
  // addition.
  const uint32_t denormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(rest) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13;
  uint32_t half = rest < 0x38800000u ? denormal : normal;
  half = rest >= 0x477ff000u ? 0x7c00u : half;  // 65520 and above
  half = rest > 0x7f800000u ? 0x7e00u | (rest >> 13 & 0x1ffu) : half;
  return static_cast<uint16_t>(sign | half);
#endif
}

}  // namespace torus
