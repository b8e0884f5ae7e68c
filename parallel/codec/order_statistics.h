// Order statistics by histogram: finds what a stable sort would put at a few ranks, without
// sorting.
//
// The upper 16 bits of a float select one of 65536 bins, which are ordered as the values. One pass
// counts the bins, and a running sum finds the bin of every wanted rank. A second pass gathers the
// indices of the values in those few bins (a few percent of typical data). Within a bin the lower
// 16 bits are counted in two steps. For a few ranks of many values, sampling is tried first
// (sampled_statistics.h); few values are sorted. All of this is exact.
#pragma once

#include <cstdint>
#include <span>

namespace torus::parallel {

// out[i] = index of the value at ranks[i] when `values` are sorted ascending and equal values (-0
// equals 0) keep the order of their indices. `ranks` ascend, each in [0, values.size()), at most
// 255 of them. Uses the calling thread's team; the result does not depend on its size.
//
// Returns false, with `out` unchanged, if a value is infinite or NaN. Throws BadInput for 2^32
// values or more.
[[nodiscard]] bool OrderStatistics(std::span<const float> values, std::span<const int64_t> ranks,
                                   std::span<uint32_t> out);

}  // namespace torus::parallel
