// CRC-32C (Castagnoli's polynomial 0x1EDC6F41, reflected; RFC 3720 appendix B.4): detects every
// burst of up to 32 wrong bits, and all but one in 2^32 of other errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace torus {

// The checksum of `bytes` that follow other bytes with the checksum `before`.
uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t before = 0);
inline uint32_t Crc32c(std::string_view text, uint32_t before = 0) {
  return Crc32c(std::as_bytes(std::span(text)), before);
}

// The checksum of a whole whose first part has the checksum `first`, and whose other `bytes` bytes
// have the checksum `second`.
uint32_t JoinCrc32c(uint32_t first, uint32_t second, uint64_t bytes);

}  // namespace torus
