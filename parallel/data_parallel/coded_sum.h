// The sum over replicas of gradients that go through a codec: each replica encodes its own, sends
// the bytes to all others, and decodes what all have sent, its own too. All add in the order of
// replicas, so all end with equal bits, as far from the exact sum as the codec is.
//
// A replica sends its encoded bytes n - 1 times, where an all-reduce sends 2 (n - 1) / n times the
// floats: the codec must make less than 2 / n of them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/collectives/direct.h"
#include "parallel/data_parallel/coded_part.h"

namespace torus::parallel {

// Starts it for `parts`, each encoded by itself, and `rest`, which is summed as it is; both stay
// allocated until it is done. A part with a value that is infinite or NaN becomes NaN on all
// replicas. Lanes are those of StartDirectAllReduce. `context` is for the codec, but for shape and
// memory.
std::unique_ptr<PendingAllReduce> StartCodedSum(Transport& transport, Codec& codec,
                                                std::vector<CodedPart> parts, std::span<float> rest,
                                                const CodecContext& context, std::string what,
                                                int lane);

// Bytes that a replica sends in it to each of the others.
uint64_t CodedSumBytes(const Codec& codec, const std::vector<Shape>& parts, size_t rest);

}  // namespace torus::parallel
