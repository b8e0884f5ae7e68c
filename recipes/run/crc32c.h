// CRC-32C, the checksum of record files.
#pragma once

#include <cstdint>
#include <string_view>

namespace torus::recipes {

// Castagnoli's polynomial 0x1EDC6F41, reflected (RFC 3720, appendix B.4).
uint32_t Crc32c(std::string_view bytes);

}  // namespace torus::recipes
