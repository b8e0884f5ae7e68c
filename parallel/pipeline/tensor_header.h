// The header sent before a tensor's bytes: its type and its actual shape, which differs in the last
// micro-batch.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/tensor.h"

namespace torus::parallel {

// Sent as raw bytes; all ranks must have the same byte order.
struct TensorHeader {
  static constexpr uint8_t kVersion = 1;  // of this struct

  // Bytes as sent, after encoding. 0 for an encoded tensor: it has values that are not finite,
  // which the codec could not encode (codec.h).
  uint64_t payload_bytes = 0;
  int64_t dims[kMaxRank] = {};   // of the tensor
  uint8_t rank = 0;              // of the tensor
  uint8_t dtype = 0;             // a DType
  uint8_t defined = 0;           // 0: no tensor (a gradient that does not flow); no payload follows
  uint8_t version = kVersion;    // of the sender
  uint32_t codec = 0;            // CodecNumber of the codec that encoded the payload; 0: none did
  uint32_t checksum = 0;         // CRC-32C of an encoded payload
  uint32_t header_checksum = 0;  // CRC-32C of all fields above

  bool encoded() const { return codec != 0; }  // whether a codec encoded the payload
};
static_assert(sizeof(TensorHeader) == 8 + 8 * kMaxRank + 16);

// Header of `tensor` sent raw, not sealed.
TensorHeader HeaderOf(const Tensor& tensor);
// Sets header_checksum; call after all other fields are set.
void Seal(TensorHeader& header);
// Why a received header must not be used: it is damaged, or of another version. Empty if it may.
std::string FaultOf(const TensorHeader& header);
// Throws BadInput, with `what` and that reason, if there is one.
void CheckIntact(const TensorHeader& header, const std::string& what);
Shape ShapeOf(const TensorHeader& header);
DType DTypeOf(const TensorHeader& header);

// A shape and type that ranks have agreed on before step 0.
struct TensorSpec {
  Shape shape;
  DType dtype = DType::kF32;  // of the tensor
};

}  // namespace torus::parallel
