// Order statistics by sampling, in one pass over the values where a histogram takes two: the
// quicker way for a few ranks of many values (after Floyd and Rivest, "Expected time bounds for
// selection", 1975).
//
// A sample, sorted, says between which two values each rank probably lies. The pass counts what
// lies below, and gathers the few percent between; those are selected from exactly. Where a sampled
// value is so frequent that it must not be gathered (the zeros behind a ReLU), its occurrences are
// counted by blocks, and the wanted one is found in its block.
#pragma once

#include <cstdint>
#include <span>

namespace torus::parallel {

// What came of it. kMissed: the sample has misled, too much would have to be gathered, or there are
// too few values or too many ranks for it to pay; then `out` is to be found another way.
enum class Sampled : uint8_t { kFound, kNotFinite, kMissed };

// As OrderStatistics; whatever the sample, `out` is exact.
[[nodiscard]] Sampled SampledStatistics(std::span<const float> values,
                                        std::span<const int64_t> ranks, std::span<uint32_t> out);

}  // namespace torus::parallel
