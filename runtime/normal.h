// Normal numbers from random words (Box and Muller, "A note on the generation of random normal
// deviates", 1958).
#pragma once

#include <array>
#include <cstdint>

namespace torus {

// A uniform number in [0, 1) from 53 bits of two words.
inline double UnitOf(uint32_t low, uint32_t high) {
  return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

// Two independent standard normals from four words.
std::array<double, 2> NormalPair(const uint32_t* words);

// Sets out[2 i] and out[2 i + 1] to mean + stddev z, rounded once from double, for the two normals
// z of words 4 i to 4 i + 3. Vectorised; the bits are those of NormalPair.
void NormalPairs(const uint32_t* words, int64_t pairs, double mean, double stddev, float* out);

}  // namespace torus
