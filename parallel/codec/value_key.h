// Combines a finite value and its index into one number, for sorting.
#pragma once

#include <bit>
#include <cstdint>

namespace torus::parallel {

// Ordered by value, then by index; -0 equals 0.
inline uint64_t ValueKey(float value, uint32_t index) {
  const uint32_t bits = std::bit_cast<uint32_t>(value + 0.0f);
  const uint32_t ordered = bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
  return uint64_t{ordered} << 32 | index;
}

// The index that the key was made from.
inline uint32_t IndexOfKey(uint64_t key) { return static_cast<uint32_t>(key); }

}  // namespace torus::parallel
