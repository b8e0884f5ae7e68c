// Order statistics by sampling: one pass over the values instead of the histogram's two. It is
// faster for a few ranks of many values (after Floyd and Rivest, "Expected time bounds for
// selection", 1975).
//
// A sorted sample tells between which two values each rank probably lies. The pass counts the
// values below and gathers the few percent between, from which the result is selected exactly. The
// least and the greatest value need no sample: the pass finds the block that has them. If a sampled
// value is too frequent to be gathered (the zeros after a ReLU), its occurrences are counted by
// blocks, and the wanted one is found in its block.
#pragma once

#include <cstdint>
#include <span>

namespace torus::parallel {

// The outcome. kMissed: the sample was misleading, too much would have to be gathered, or there are
// too few values or too many ranks for sampling to pay. Then `out` must be computed another way.
enum class Sampled : uint8_t { kFound, kNotFinite, kMissed };

// As OrderStatistics. With kFound, `out` is exact, whatever the sample.
[[nodiscard]] Sampled SampledStatistics(std::span<const float> values,
                                        std::span<const int64_t> ranks, std::span<uint32_t> out);

}  // namespace torus::parallel
