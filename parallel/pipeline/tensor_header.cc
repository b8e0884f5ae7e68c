#include "parallel/pipeline/tensor_header.h"

#include <algorithm>
#include <cstddef>

#include "runtime/crc32c.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

uint32_t ChecksumOf(const TensorHeader& header) {
  const auto bytes = std::as_bytes(std::span(&header, 1));
  return Crc32c(bytes.first(offsetof(TensorHeader, header_checksum)));
}

}  // namespace

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

void Seal(TensorHeader& header) { header.header_checksum = ChecksumOf(header); }

std::string FaultOf(const TensorHeader& header) {
  const uint32_t found = ChecksumOf(header);
  if (header.header_checksum != found)
    return fmt::format("its header was sent with the checksum {:08x}, what came has {:08x}",
                       header.header_checksum, found);
  if (header.version != TensorHeader::kVersion)
    return fmt::format("its header has version {}, this program reads version {}", header.version,
                       TensorHeader::kVersion);
  return "";
}

void CheckIntact(const TensorHeader& header, const std::string& what) {
  const std::string fault = FaultOf(header);
  Require(fault.empty(), "pipeline", "{}: {}", what, fault);
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
