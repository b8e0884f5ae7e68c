// The arithmetic of small floats. CPU and GPU compute the same bits.
#pragma once

#include <bit>
#include <cstdint>

#include "parallel/codec/float8.h"
#include "runtime/element_cast.h"
#include "runtime/host_device.h"

namespace torus::parallel {

// f16 and bf16 without infinities: values beyond the greatest number become that number.
struct FiniteHalf {
  TORUS_HOST_DEVICE static uint16_t FromFloat(float value) {
    constexpr float kMost = 65504;
    return FloatToHalfBits(value < -kMost ? -kMost : value > kMost ? kMost : value);
  }
  TORUS_HOST_DEVICE static float ToFloat(uint16_t bits) { return HalfBitsToFloat(bits); }
};

struct FiniteBFloat {
  TORUS_HOST_DEVICE static uint16_t FromFloat(float value) {
    constexpr float kMost = 0x1.fep127f;
    return FloatToBFloatBits(value < -kMost ? -kMost : value > kMost ? kMost : value);
  }
  TORUS_HOST_DEVICE static float ToFloat(uint16_t bits) {
    return std::bit_cast<float>(uint32_t{bits} << 16);
  }
};

inline constexpr int kLeastScalePower = -120, kMostScalePower = 170;

// 2^power, from -1022 to 1023.
TORUS_HOST_DEVICE inline double PowerOfTwo(int power) {
  return std::bit_cast<double>(static_cast<uint64_t>(power + 1023) << 52);
}

// The exponent of a number above 0.
TORUS_HOST_DEVICE inline int ExponentOf(float value) {
  const uint64_t bits = std::bit_cast<uint64_t>(double{value});  // normal in float64
  return static_cast<int>(bits >> 52) - 1023;
}

// The exponent of the greatest power of two that keeps `magnitude` times it at most F's greatest
// number; 0 if `magnitude` is 0.
template <class F>
TORUS_HOST_DEVICE int ScalePower(float magnitude) {
  if (magnitude == 0) return 0;
  const float greatest = F::ToFloat(F::kGreatest);
  const int power = ExponentOf(greatest) - ExponentOf(magnitude);
  return double{magnitude} * PowerOfTwo(power) > greatest ? power - 1 : power;
}

// Clamped to float32: encoding may have rounded the greatest values up to 2^128.
template <class F>
TORUS_HOST_DEVICE float ScaledFloat8(uint8_t code, double scale) {
  constexpr double kMost = 0x1.fffffep127;
  const double value = F::ToFloat(code) * scale;
  return static_cast<float>(value < -kMost ? -kMost : value > kMost ? kMost : value);
}

}  // namespace torus::parallel
