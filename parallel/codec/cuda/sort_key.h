// Keys: unsigned integers that are ordered as the floats they stand for. For kernel sources.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/dtype.h"
#include "runtime/element_cast.h"
#include "runtime/host_device.h"

namespace torus::parallel::cuda {

inline constexpr uint32_t kKeyOfZero = 0x80000000u;

// The bits of the value as a float32; 16-bit values are converted.
TORUS_HOST_DEVICE inline uint32_t FloatBits(float value) { return std::bit_cast<uint32_t>(value); }
TORUS_HOST_DEVICE inline uint32_t FloatBits(BFloat16 value) { return uint32_t{value.bits} << 16; }
TORUS_HOST_DEVICE inline uint32_t FloatBits(Float16 value) {
  return std::bit_cast<uint32_t>(HalfBitsToFloat(value.bits));
}

TORUS_HOST_DEVICE inline bool IsFiniteBits(uint32_t bits) {
  return (bits & 0x7fffffffu) < 0x7f800000u;
}

// The key of a float's bits: a greater float has a greater key; -0 and 0 have the same key.
TORUS_HOST_DEVICE inline uint32_t KeyOf(uint32_t bits) {
  constexpr uint32_t kSign = 0x80000000u;
  if (bits == kSign) return kKeyOfZero;
  return bits & kSign ? ~bits : bits | kSign;
}

// The float of a key; 0 for kKeyOfZero.
TORUS_HOST_DEVICE inline float ValueOf(uint32_t key) {
  constexpr uint32_t kSign = 0x80000000u;
  return std::bit_cast<float>(key & kSign ? key & ~kSign : ~key);
}

}  // namespace torus::parallel::cuda
