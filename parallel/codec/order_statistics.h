// Order statistics by histogram: what a stable sort would put at a few ranks, without sorting.
//
// A float's upper 16 bits, taken in the order of the values that they begin, are 65536 bins. One
// pass counts the bins; a running sum finds the bin of every rank wanted; a second pass gathers the
// indices of the values in those few bins (a few percent of typical data); within a bin the lower
// 16 bits are counted in two steps. A few ranks of many values are looked for by sampling first
// (sampled_statistics.h), and few values are sorted. All of it is exact.
#pragma once

#include <cstdint>
#include <span>

namespace torus::parallel {

// out[i] = index of the value that stands at ranks[i] when `values` are sorted ascending and equal
// values (-0 equals 0) keep the order of their indices. `ranks` ascend, each in [0, values.size()),
// at most 255 of them. Uses the calling thread's team; the result does not depend on its size.
//
// False, with `out` left as it is, when a value is infinite or NaN. BadInput for 2^32 values or
// more.
[[nodiscard]] bool OrderStatistics(std::span<const float> values, std::span<const int64_t> ranks,
                                   std::span<uint32_t> out);

}  // namespace torus::parallel
