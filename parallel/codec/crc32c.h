// CRC-32C (Castagnoli's polynomial, RFC 3720 appendix B.4): finds every burst of up to 32 wrong
// bits, and all but one in 2^32 of other damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace torus::parallel {

// Of `bytes` behind others whose checksum is `before`.
uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t before = 0);

}  // namespace torus::parallel
