// The sum over replicas of gradients that a codec makes factors of (codec/factor_codec.h): the
// factors P of all parts are all-reduced in one message, then the factors Q.
//
// A replica sends as an all-reduce of the factors does, 2 (n - 1) / n times their floats of n
// replicas: unlike a sum of encoded bytes (coded_sum.h) it pays with any number of them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parallel/codec/factor_codec.h"
#include "parallel/collectives/direct.h"
#include "parallel/data_parallel/coded_part.h"

namespace torus::parallel {

// Starts it for `parts`, which become their sums as the factors give them, and `rest`, which is
// summed as it is; so are parts whose factors would not be smaller. Both stay allocated until it is
// done. Sums are in the order of a direct all-reduce, so all replicas end with equal bits. A part
// with a value that is infinite or NaN becomes NaN on all replicas. Lanes are those of
// StartDirectAllReduce. `context`: for the codec, but for shape and memory.
std::unique_ptr<PendingAllReduce> StartFactorSum(Transport& transport, const FactorCodec& codec,
                                                 std::vector<CodedPart> parts,
                                                 std::span<float> rest, const CodecContext& context,
                                                 std::string what, int lane);

// Floats of each of its two all-reduces.
struct FactorSumSizes {
  int64_t first = 0, second = 0;
};
FactorSumSizes SizesOfFactorSum(const FactorCodec& codec, const std::vector<Shape>& parts,
                                size_t rest);

}  // namespace torus::parallel
