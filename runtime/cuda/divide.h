// Division of indices for kernels: 64 bits where they are needed, which GPUs divide slowly, and 32
// where those suffice.
#pragma once

#include <cstdint>

#include "runtime/host_device.h"

namespace torus::cuda {

struct Divided {
  int64_t quotient, rest;
};

// Neither is negative, and `by` is not 0.
TORUS_HOST_DEVICE inline Divided Divide(int64_t index, int64_t by) {
  constexpr int64_t kShort = 0xffffffff;
  if (index > kShort || by > kShort) return {index / by, index % by};
  const uint32_t a = static_cast<uint32_t>(index), b = static_cast<uint32_t>(by);
  return {static_cast<int64_t>(a / b), static_cast<int64_t>(a % b)};
}

}  // namespace torus::cuda
