// How a value of an optimizer's state is rounded to a narrow type, on CPUs and GPUs: up or down by
// chance, and on average to itself. Rounding to nearest would stop an average that moves by less
// than half a gap a step: the second moment, which takes in a thousandth, would stay where it is.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/dtype.h"
#include "runtime/host_device.h"

namespace torus::parallel {

// Takes the place of 16 random bits for rounding to nearest.
inline constexpr uint32_t kToNearest = 0x8000;

// `random`: 16 bits. The value itself if bf16 has it; NaN stays NaN.
TORUS_HOST_DEVICE inline BFloat16 RoundedToBFloat(float value, uint32_t random) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  BFloat16 rounded;
  rounded.bits = static_cast<uint16_t>((nan ? bits | 0x400000u : bits + random) >> 16);
  return rounded;
}

// Orders values by magnitude, above all infinities and NaN; of two with opposite signs the positive
// one is larger. The block's scale is the value of the largest.
TORUS_HOST_DEVICE inline uint32_t MagnitudeOrder(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return bits << 1 | (bits >> 31 ^ 1);
}

TORUS_HOST_DEVICE inline float OfMagnitudeOrder(uint32_t order) {
  return std::bit_cast<float>(order >> 1 | (~order & 1) << 31);
}

// The place of value / scale, a quotient in [-1, 1], between two of the 256 ascending numbers
// (runtime/dynamic_numbers.h): the upper with the probability of its distance from the lower, in
// units of their gap, to 2^-17. Below the least number: its place. Where there are no signs, a
// value above 0 gets no place that stands for 0, not even where f32 rounds value / scale, or the
// place's number times the scale, to 0: a step divided by the root of such a variance could take a
// parameter anywhere.
TORUS_HOST_DEVICE inline uint8_t PlaceOf(const float* numbers, float value, float scale,
                                         uint32_t random) {
  const float x = scale != 0 ? value / scale : 0;
  int place = 0;
  for (int step = 128; step > 0; step /= 2)
    if (x >= numbers[place + step]) place += step;
  const int next = place < 255 ? place + 1 : place;
  const float threshold = (static_cast<float>(random) + 0.5f) * 0x1p-16f;
  if (x - numbers[place] > threshold * (numbers[next] - numbers[place])) place = next;
  if (numbers[0] == 0 && value > 0)
    while (place < 255 && numbers[place] * scale == 0) ++place;
  return static_cast<uint8_t>(place);
}

}  // namespace torus::parallel
