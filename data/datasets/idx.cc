#include "data/datasets/idx.h"

#include <memory>
#include <utility>

#include "data/files/file.h"

namespace torus::data {
namespace {

uint32_t BigEndian32(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | uint32_t{p[3]};
}

Shape ReadShape(const std::vector<uint8_t>& bytes, int rank, const std::string& path) {
  const size_t header = 4 + 4 * static_cast<size_t>(rank);
  Require(bytes.size() >= header, path, "requires an IDX header of {} bytes, got {} bytes", header,
          bytes.size());
  const uint32_t wanted = 0x0800u | static_cast<uint32_t>(rank);
  Require(BigEndian32(bytes.data()) == wanted, path,
          "requires the IDX magic number {:#010x} (unsigned bytes, {} dimensions), got {:#010x}",
          wanted, rank, BigEndian32(bytes.data()));
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(BigEndian32(bytes.data() + 4 + 4 * i));
  return shape;
}

// Whether the product of the sizes is `count`. The product itself may be beyond 64 bits.
bool HoldsExactly(const Shape& shape, size_t count) {
  size_t left = count;
  for (const int64_t size : shape) {
    if (size == 0) return count == 0;
    if (left % static_cast<size_t>(size) != 0) return false;
    left /= static_cast<size_t>(size);
  }
  return left == 1;
}

}  // namespace

Tensor ReadIdx(const std::string& path, int rank) {
  auto bytes = std::make_shared<std::vector<uint8_t>>(ReadFileMaybeGzip(path));
  const Shape shape = ReadShape(*bytes, rank, path);
  const int64_t header = 4 + 4 * rank;
  const size_t elements = bytes->size() - static_cast<size_t>(header);
  Require(HoldsExactly(shape, elements), path, "requires one byte an element of {}, got {} bytes",
          shape, elements);
  uint8_t* const data = bytes->data();
  const size_t size = bytes->size();
  auto storage = std::make_shared<Storage>(data, size, Device{}, std::move(bytes));
  return Tensor(std::move(storage), shape, ContiguousStrides(shape), header, DType::kU8);
}

}  // namespace torus::data
