// CRC-32, the check sum of ZIP archives (ISO 3309). Torus's own files have CRC-32C (crc32c.h).
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string_view>

namespace torus::io {

// `before` is the sum of the bytes in front, if there are any.
inline uint32_t Crc32(std::string_view bytes, uint32_t before = 0) {
  if (bytes.empty()) return before;  // zlib takes null for a beginning
  return static_cast<uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace torus::io
