// Checksums of pieces joined into that of the whole; for CPU and GPU.
//
// But for its first and last step, which turn all bits, a CRC is linear: of bytes A B it is that of
// A times x^(8 |B|), plus that of B, modulo the polynomial. So threads sum pieces of their own.
#pragma once

#include <cstdint>

#include "runtime/host_device.h"

namespace torus::parallel {

inline constexpr uint32_t kCrc32cPolynomial = 0x82f63b78u;  // the highest bit is that of x^0

// What a byte leaves, 0 before it.
TORUS_HOST_DEVICE inline uint32_t CrcOfByte(uint32_t byte) {
  for (int bit = 0; bit < 8; ++bit) byte = byte >> 1 ^ (byte & 1 ? kCrc32cPolynomial : 0u);
  return byte;
}

// a b of polynomials over two elements, modulo Castagnoli's.
TORUS_HOST_DEVICE inline uint32_t MultiplyCrc(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 0x80000000u; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = b >> 1 ^ (b & 1 ? kCrc32cPolynomial : 0u);
  }
  return product;
}

// x^(8 bytes): what a checksum is multiplied by for as many bytes behind it.
TORUS_HOST_DEVICE inline uint32_t CrcShift(uint64_t bytes) {
  uint32_t shift = 0x80000000u, square = 0x00800000u;  // 1 and x^8
  for (; bytes != 0; bytes >>= 1) {
    if (bytes & 1) shift = MultiplyCrc(shift, square);
    square = MultiplyCrc(square, square);
  }
  return shift;
}

// What the first and last step make of the sum over all pieces of `bytes` bytes.
TORUS_HOST_DEVICE inline uint32_t CrcOfSum(uint32_t sum, uint64_t bytes) {
  return ~(sum ^ MultiplyCrc(0xffffffffu, CrcShift(bytes)));
}

}  // namespace torus::parallel
