// Sums gradients over replicas through a codec: each replica encodes its own, sends the bytes to
// all others, and decodes the bytes of all, including its own. All add in replica order, so all get
// equal bits. The error of the sum is that of the codec.
//
// Before each part's bytes stand their number, the codec's number and a CRC-32C; a part that does
// not match is refused (BadInput). `rest` has no checksum.
//
// A replica sends its encoded bytes n - 1 times; an all-reduce sends 2 (n - 1) / n times the
// floats' bytes. So the codec saves bytes only if it compresses to less than 2 / n.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/collectives/communicator.h"
#include "parallel/data_parallel/coded_part.h"

namespace torus::parallel {

// Starts the sum of `parts`, each encoded by itself, and of `rest`, which is summed uncoded; both
// must stay allocated until it is done. A part with an infinite or NaN value becomes NaN on all
// replicas. `lane` is as for Communicator::StartAllReduce. `context` is for the codec; its shape
// and memory are set for each part.
std::unique_ptr<PendingCollective> StartCodedSum(Communicator& replicas, Codec& codec,
                                                 std::vector<CodedPart> parts,
                                                 std::span<float> rest, const CodecContext& context,
                                                 std::string what, int lane);

// Bytes that a replica sends to each of the others in such a sum.
uint64_t CodedSumBytes(const Codec& codec, const std::vector<Shape>& parts, size_t rest);

}  // namespace torus::parallel
