#include "parallel/pipeline/tensor_header.h"

#include <algorithm>
#include <cstddef>

#include "parallel/codec/crc32c.h"

namespace torus::parallel {

TensorHeader HeaderOf(const Tensor& tensor) {
  TensorHeader header;
  if (!tensor.defined()) return header;
  header.payload_bytes = tensor.bytes();
  std::copy(tensor.shape().begin(), tensor.shape().end(), header.dims);
  header.rank = static_cast<uint8_t>(tensor.rank());
  header.dtype = static_cast<uint8_t>(tensor.dtype());
  header.defined = 1;
  return header;
}

uint32_t ChecksumOf(const TensorHeader& header) {
  const auto bytes = std::as_bytes(std::span(&header, 1));
  return Crc32c(bytes.first(offsetof(TensorHeader, header_checksum)));
}

Shape ShapeOf(const TensorHeader& header) {
  TORUS_CHECK(header.rank <= kMaxRank, "rank {}", header.rank);
  return Shape(std::span<const int64_t>(header.dims, header.rank));
}

DType DTypeOf(const TensorHeader& header) {
  TORUS_CHECK(header.dtype <= static_cast<uint8_t>(DType::kBool), "dtype {}", header.dtype);
  return static_cast<DType>(header.dtype);
}

}  // namespace torus::parallel
