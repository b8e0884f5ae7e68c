// The header sent before a tensor's bytes: its type and its actual shape, which differs in the last
// micro-batch.
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace torus::parallel {

// Sent as raw bytes; all ranks must have the same byte order.
struct TensorHeader {
  // Bytes as sent, after encoding. 0 for an encoded tensor: it has values that are not finite,
  // which the codec could not encode (codec.h).
  uint64_t payload_bytes = 0;
  int64_t dims[kMaxRank] = {};
  uint8_t rank = 0;
  uint8_t dtype = 0;
  uint8_t defined = 0;    // 0: no tensor (a gradient that does not flow); no payload follows
  uint8_t encoded = 0;    // 1: encoded by the link's codec; `checksum` is that of the payload
  uint32_t checksum = 0;  // CRC-32C
};
static_assert(sizeof(TensorHeader) == 8 + 8 * kMaxRank + 8);

// Header of `tensor` sent raw.
TensorHeader HeaderOf(const Tensor& tensor);
Shape ShapeOf(const TensorHeader& header);
DType DTypeOf(const TensorHeader& header);

// A shape and type that ranks have agreed on before step 0.
struct TensorSpec {
  Shape shape;
  DType dtype = DType::kF32;
};

}  // namespace torus::parallel
