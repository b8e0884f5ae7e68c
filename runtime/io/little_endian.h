// Numbers as files hold them: the lowest byte first, on any machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace torus::io {

// The number that at most 8 bytes are.
inline uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    value |= uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
  return value;
}

// The lowest `count` bytes of a number, at most 8.
inline std::string ToLittleEndian(uint64_t value, size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

}  // namespace torus::io
