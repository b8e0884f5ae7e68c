// The last step of OrderStatistics: finds the values at some ranks within one bin, whose values
// share the upper 16 bits of their float32.
#pragma once

#include <cstdint>
#include <span>

namespace torus::parallel {

// out[i] = the element of `indices` at ranks[i] when they are sorted by their values, equal ones
// (-0 equals 0) in their order in `indices`. All the values share their upper 16 bits, or are zeros
// and denormals of both signs below 2^-133. `ranks` ascend, each in [0, indices.size()). `scratch`
// is as long as `indices`. Time is linear in the size of the bin, whatever it holds.
void PickInBin(const float* values, std::span<const uint32_t> indices,
               std::span<const int64_t> ranks, std::span<uint32_t> scratch,
               std::span<uint32_t> out);

}  // namespace torus::parallel
