// The step of a bucket of sort quantization; the same bits on CPU and GPU.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/host_device.h"

namespace torus::parallel {

inline constexpr float kLeastNormal = 0x1p-126f;

// (maximum - minimum) / (2^step_bits - 1), rounded down to float32, but up when denormal.
TORUS_HOST_DEVICE inline float BucketStep(float minimum, float maximum, int step_bits) {
  const double exact = (double{maximum} - double{minimum}) / ((1 << step_bits) - 1);
  const float near = static_cast<float>(exact);
  // The next float above or below one that is not negative has the next number for its bits.
  const uint32_t bits = std::bit_cast<uint32_t>(near);
  if (near < kLeastNormal) return double{near} < exact ? std::bit_cast<float>(bits + 1) : near;
  return double{near} > exact ? std::bit_cast<float>(bits - 1) : near;
}

// Whether float32 can form differences within the bucket and divide them by its step.
TORUS_HOST_DEVICE inline bool FitsFloat(float minimum, float maximum, float step) {
  constexpr float kMost = 0x1.fffffep127f;
  return step == 0 || (maximum - minimum <= kMost && step >= kLeastNormal);
}

}  // namespace torus::parallel
