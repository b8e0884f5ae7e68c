// A frame: an encoded tensor with all that is needed to decode it. What lies in files is framed; on
// a link the ranks have agreed on codec and shapes before step 0, and the header of its messages
// (parallel/pipeline/tensor_header.h) has the shape and the same checksum.
//
// Layout, little-endian; at most kMostHeaderBytes before the payload:
//   bytes     what
//   4         "TRCF"
//   2         version, 1
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
  static constexpr uint16_t kVersion = 1;

  std::string codec;
  Shape shape;
  DType dtype = DType::kF32;
  std::span<const std::byte> payload;  // of the bytes that were read
  size_t bytes = 0;                    // of the whole frame
};

// Encodes values of that shape, and puts the header before. Empty where the codec cannot carry them
// (a value is infinite or NaN). BadInput where the codec remembers: a frame stands for itself.
std::vector<std::byte> WriteFrame(Codec& codec, const Shape& shape, DType dtype,
                                  std::span<const float> values);

// Reads the frame at the front of `in`; bytes behind it are left. BadInput, with the reason, unless
// all of it is as above and the checksum fits. What it holds is not decoded yet.
Frame ReadFrame(std::span<const std::byte> in);

// The same bytes with the checksum that is theirs, where they are long enough to have one: for
// tests of what the header's own bounds refuse.
std::vector<std::byte> WithChecksum(std::vector<std::byte> frame);

// The values of a frame. BadInput where there would be more than `most`, the codec is not known, or
// it refuses the payload.
std::vector<float> DecodeFrame(const Frame& frame, int64_t most);

}  // namespace torus::parallel
