// Float8: 8-bit floating-point numbers: a sign, kExponent bits of exponent, the rest mantissa;
// denormal numbers as in IEEE 754.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/host_device.h"

namespace torus::parallel {

template <int kExponent, int kGreatestBits>
struct Float8 {
  static constexpr int kMantissa = 7 - kExponent;
  static constexpr int kDropped = 23 - kMantissa;  // dropped bits of a float32's mantissa
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr int kLeastExponent = 1 - kBias;  // of a normal number
  static constexpr uint8_t kGreatest = kGreatestBits;

  // FromFloat: the difference of the exponents' biases; a number beside which a float32's last bit
  // is worth the format's least denormal number; the least normal number. As bits of float32.
  static constexpr uint32_t kRebias = static_cast<uint32_t>(127 - kBias) << 23;
  static constexpr uint32_t kBeside = static_cast<uint32_t>(127 + kLeastExponent + kDropped) << 23;
  static constexpr uint32_t kLeastNormal = static_cast<uint32_t>(127 + kLeastExponent) << 23;
  // ToFloat: what a number shifted to a float32's place is multiplied by.
  static constexpr float kToFloat = std::bit_cast<float>(static_cast<uint32_t>(254 - kBias) << 23);

  // Rounds to nearest, ties to even. |value| must not exceed the greatest number.
  TORUS_HOST_DEVICE static uint8_t FromFloat(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value), rest = bits & 0x7fffffffu;
    const uint32_t odd = rest >> kDropped & 1u;
    const uint32_t normal = (rest - kRebias + (1u << (kDropped - 1)) - 1 + odd) >> kDropped;
    const float shifted = std::bit_cast<float>(rest) + std::bit_cast<float>(kBeside);
    const uint32_t denormal = std::bit_cast<uint32_t>(shifted) - kBeside;
    return static_cast<uint8_t>((bits >> 24 & 0x80u) | (rest < kLeastNormal ? denormal : normal));
  }

  // Exact.
  TORUS_HOST_DEVICE static float ToFloat(uint8_t code) {
    const uint32_t sign = static_cast<uint32_t>(code & 0x80u) << 24, rest = code & 0x7fu;
    const float magnitude = std::bit_cast<float>(rest << kDropped) * kToFloat;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
};

using E4M3 = Float8<4, 0x7e>;  // 448; 0x7f is NaN
using E5M2 = Float8<5, 0x7b>;  // 57344; 0x7c is infinite, those above are NaN

}  // namespace torus::parallel
