// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): four
// random words as a pure function of a counter and a key.
#pragma once

#include <array>
#include <cstdint>

namespace torus {

using PhiloxKey = std::array<uint32_t, 2>;      // the key of a stream
using PhiloxCounter = std::array<uint32_t, 4>;  // the number of a block, and its four words

// Computes one block. Matches the published known-answer vectors.
PhiloxCounter Philox4x32(PhiloxCounter counter, PhiloxKey key);

// Writes `count` consecutive blocks: those of the counters (first + i, high), where each half is a
// 64-bit number, lower word first. Vectorised; the bits are those of Philox4x32.
void PhiloxBlocks(uint64_t first, uint64_t high, PhiloxKey key, int64_t count, uint32_t* words);

}  // namespace torus
