// Sums gradients over replicas through a codec that factorizes them (codec/factor_codec.h):
// all-reduces the factors P of all parts together, then the factors Q.
//
// With n replicas, each sends 2 (n - 1) / n times the floats of the factors, as in any all-reduce.
// So unlike a sum of encoded bytes (coded_sum.h) it saves bytes with any number of replicas.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parallel/codec/factor_codec.h"
#include "parallel/collectives/communicator.h"
#include "parallel/data_parallel/coded_part.h"

namespace torus::parallel {

// Starts the sum of `parts`, which become the products of the summed factors, and of `rest`, which
// is summed uncoded, as are parts whose factors would not be smaller. Both must stay allocated
// until it is done. Sums are in the order of a direct all-reduce, so all replicas get equal bits. A
// part with an infinite or NaN value becomes NaN on all replicas. `lane` is as for
// Communicator::StartAllReduce. `context` is for the codec; its shape and memory are set for each
// part.
std::unique_ptr<PendingCollective> StartFactorSum(Communicator& replicas, const FactorCodec& codec,
                                                  std::vector<CodedPart> parts,
                                                  std::span<float> rest,
                                                  const CodecContext& context, std::string what,
                                                  int lane);

// The floats in each of the two all-reduces.
struct FactorSumSizes {
  int64_t first = 0, second = 0;
};
FactorSumSizes SizesOfFactorSum(const FactorCodec& codec, const std::vector<Shape>& parts,
                                size_t rest);

}  // namespace torus::parallel
