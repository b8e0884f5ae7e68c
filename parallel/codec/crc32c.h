// CRC-32C (Castagnoli's polynomial, RFC 3720 appendix B.4): detects every burst of up to 32 wrong
// bits, and all but one in 2^32 of other errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace torus::parallel {

// The checksum of `bytes` that follow other bytes with the checksum `before`.
uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t before = 0);

}  // namespace torus::parallel
