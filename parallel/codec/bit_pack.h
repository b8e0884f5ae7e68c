// Codes of 1 to 16 bits as a stream of bytes, least significant bit first: code i fills bits
// [i * bits, (i + 1) * bits) of the stream, and bit j of the stream is bit j % 8 of byte j / 8.
// Unused bits at the end are 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torus::parallel {

// ceil(count * bits / 8).
size_t PackedBytes(int64_t count, int bits);

// Writes PackedBytes(count, bits) bytes. `bits` is 1 to 16; the higher bits of each code must be 0.
void PackBits(const uint16_t* codes, int64_t count, int bits, std::byte* out);

// Reads PackedBytes(count, bits) bytes.
void UnpackBits(const std::byte* in, int64_t count, int bits, uint16_t* codes);

}  // namespace torus::parallel
