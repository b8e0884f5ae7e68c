// The step of a bucket of sort quantization. CPU and GPU compute the same bits.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/host_device.h"

namespace torus::parallel {

inline constexpr float kLeastNormal = 0x1p-126f;

// (maximum - minimum) / (2^step_bits - 1), rounded down to float32, or up if it is denormal.
TORUS_HOST_DEVICE inline float BucketStep(float minimum, float maximum, int step_bits) {
  const double exact = (double{maximum} - double{minimum}) / ((1 << step_bits) - 1);
  const float near = static_cast<float>(exact);
  // The bits of the next float above or below a non-negative float are its own plus or minus 1.
  const uint32_t bits = std::bit_cast<uint32_t>(near);
  if (near < kLeastNormal) return double{near} < exact ? std::bit_cast<float>(bits + 1) : near;
  return double{near} > exact ? std::bit_cast<float>(bits - 1) : near;
}

// Whether differences within the bucket, divided by its step, can be computed in float32.
TORUS_HOST_DEVICE inline bool FitsFloat(float minimum, float maximum, float step) {
  constexpr float kMost = 0x1.fffffep127f;
  return step == 0 || (maximum - minimum <= kMost && step >= kLeastNormal);
}

}  // namespace torus::parallel
