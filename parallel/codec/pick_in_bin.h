// The last step of OrderStatistics: finds the values at some ranks within one bin, whose values
// share the upper 16 bits of their float32.
#pragma once

#include <cstdint>
#include <span>

namespace torus::parallel {

// out[i] = the one of `indices` whose value stands at ranks[i] among values[indices[...]], ties (-0
// equals 0) by place in `indices`. The values share their upper 16 bits, or are zeros and denormals
// of both signs below 2^-133. `ranks` ascend, each in [0, indices.size()). `scratch` is as long as
// `indices`. Linear in the bin, whatever is in it.
void PickInBin(const float* values, std::span<const uint32_t> indices,
               std::span<const int64_t> ranks, std::span<uint32_t> scratch,
               std::span<uint32_t> out);

}  // namespace torus::parallel
