// The second step of OrderStatistics: the indices of the values in a few bins of BinCounts.
#pragma once

#include <cstdint>
#include <span>

#include "parallel/codec/bin_counts.h"

namespace torus::parallel {

struct BinRange {
  int bin = 0;
  int64_t start = 0, count = 0;  // range of the bin's indices in the gathered list
};

// Writes the indices of the values in bins[b] to indices[start ... start + count), ascending.
// `counts` are those of `values`. There are 1 to 255 bins. Runs on the calling thread's team.
void GatherBins(std::span<const float> values, const BinCounts& counts,
                std::span<const BinRange> bins, uint32_t* indices);

}  // namespace torus::parallel
