// Index division for kernels: in 32 bits if both operands fit, because GPUs divide 64-bit integers
// slowly.
#pragma once

#include <cstdint>

#include "runtime/host_device.h"

namespace torus::cuda {

struct Divided {
  int64_t quotient, rest;
};

// `index` >= 0 and `by` > 0.
TORUS_HOST_DEVICE inline Divided Divide(int64_t index, int64_t by) {
  constexpr int64_t kShort = 0xffffffff;
  if (index > kShort || by > kShort) return {index / by, index % by};
  const uint32_t a = static_cast<uint32_t>(index), b = static_cast<uint32_t>(by);
  return {static_cast<int64_t>(a / b), static_cast<int64_t>(a % b)};
}

}  // namespace torus::cuda
