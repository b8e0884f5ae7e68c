// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): four
// random words as a pure function of a counter and a key.
#pragma once

#include <array>
#include <cstdint>

namespace torus {

using PhiloxKey = std::array<uint32_t, 2>;
using PhiloxCounter = std::array<uint32_t, 4>;

// One block. Matches the published known-answer vectors.
PhiloxCounter Philox4x32(PhiloxCounter counter, PhiloxKey key);

// The words of `count` blocks side by side: those of counters (first + i, high), each half 64 bits
// with its lower word first. Vectorised; the bits are Philox4x32's.
void PhiloxBlocks(uint64_t first, uint64_t high, PhiloxKey key, int64_t count, uint32_t* words);

}  // namespace torus
