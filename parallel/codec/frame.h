// Frame: an encoded tensor with everything that is needed to decode it, for files. On a link the
// ranks have agreed on codec and shapes before step 0, and the header of its messages
// (parallel/pipeline/tensor_header.h) has the shape and the same checksum.
//
// Layout, little-endian; at most kMostHeaderBytes before the payload:
//   bytes     what
//   4         "TRCF"
//   2         version, kCodecVersion
//   1         dtype of the tensor, runtime/dtype.h's number: f32, bf16 or f16
//   1         rank r, at most kMaxRank
//   8 r       sizes
//   1         c, 1 to 200
//   c         the codec's name with all its parameters, "topk:0.1+sortq:8"
//   8         p, bytes of the payload: at most what the codec writes for that shape
//   4         CRC-32C of all bytes above and of the payload
//   p         the payload, as the codec's header says
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parallel/codec/codec.h"

namespace torus::parallel {

struct Frame {
  static constexpr size_t kMostHeaderBytes = 4 + 2 + 1 + 1 + 8 * kMaxRank + 1 + 200 + 8 + 4;
  std::string codec;
  Shape shape;
  DType dtype = DType::kF32;
  std::span<const std::byte> payload;  // points into the bytes that were read
  size_t bytes = 0;                    // size of the whole frame
};

// Encodes values of that shape, with the header before them. The result is empty if the codec
// cannot represent them (a value is infinite or NaN). Throws BadInput if the decoder depends on
// memory: a frame must be decodable by itself.
std::vector<std::byte> WriteFrame(Codec& codec, const Shape& shape, DType dtype,
                                  std::span<const float> values);

// Reads the frame at the front of `in` and ignores bytes after it. Does not decode the payload.
// Throws BadInput, with the reason, if the frame is not as above or the checksum does not match.
Frame ReadFrame(std::span<const std::byte> in);

// Returns the frame with a correct checksum, if it is long enough to have one. For tests of damaged
// frames whose header must be refused for another reason.
std::vector<std::byte> WithChecksum(std::vector<std::byte> frame);

// Decodes a frame. Throws BadInput if there would be more than `most` values, the codec is unknown
// or its decoder depends on memory, or the codec refuses the payload.
std::vector<float> DecodeFrame(const Frame& frame, int64_t most);

}  // namespace torus::parallel
