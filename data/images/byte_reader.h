// ByteReader: reads the bytes of an image file in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/error.h"

namespace torus::data {

// `bytes`, and `name`, which messages call the file, must outlive it.
class ByteReader {
 public:
  ByteReader(std::span<const uint8_t> bytes, const std::string& name)
      : bytes_(bytes), name_(name) {}

  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }

  // Returns the next `count` bytes. Throws BadInput naming the file if fewer are left.
  std::span<const uint8_t> Take(size_t count) {
    Require(count <= left(), name_, "requires a whole image, got {} bytes where byte {} is needed",
            bytes_.size(), at_ + count);
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }
  uint8_t Byte() { return Take(1)[0]; }
  // Read an unsigned integer of `count` bytes, at most 8.
  uint64_t BigEndian(size_t count) {
    uint64_t value = 0;
    for (const uint8_t byte : Take(count)) value = value << 8 | byte;
    return value;
  }
  uint64_t LittleEndian(size_t count) {
    uint64_t value = 0, shift = 0;
    for (const uint8_t byte : Take(count)) value |= uint64_t{byte} << 8 * shift++;
    return value;
  }

 private:
  std::span<const uint8_t> bytes_;
  const std::string& name_;
  size_t at_ = 0;
};

}  // namespace torus::data
