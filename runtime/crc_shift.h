// Combines the checksums of pieces into that of the whole, on CPU and GPU.
//
// Apart from its first and last step, which invert all bits, a CRC is linear: the CRC of bytes A B
// is that of A times x^(8 |B|), plus that of B, modulo the polynomial. So each thread can process
// its own piece.
#pragma once

#include <cstdint>

#include "runtime/host_device.h"

namespace torus {

inline constexpr uint32_t kCrc32cPolynomial = 0x82f63b78u;  // highest bit: coefficient of x^0

// The remainder of one byte, starting from 0.
TORUS_HOST_DEVICE inline uint32_t CrcOfByte(uint32_t byte) {
  for (int bit = 0; bit < 8; ++bit) byte = byte >> 1 ^ (byte & 1 ? kCrc32cPolynomial : 0u);
  return byte;
}

// The product a b of polynomials over GF(2), modulo Castagnoli's.
TORUS_HOST_DEVICE inline uint32_t MultiplyCrc(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 0x80000000u; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = b >> 1 ^ (b & 1 ? kCrc32cPolynomial : 0u);
  }
  return product;
}

// x^(8 bytes): the factor for a checksum when that many bytes follow it.
TORUS_HOST_DEVICE inline uint32_t CrcShift(uint64_t bytes) {
  uint32_t shift = 0x80000000u, square = 0x00800000u;  // 1 and x^8
  for (; bytes != 0; bytes >>= 1) {
    if (bytes & 1) shift = MultiplyCrc(shift, square);
    square = MultiplyCrc(square, square);
  }
  return shift;
}

// Applies the first and last step to the sum over all pieces, of `bytes` bytes in total.
TORUS_HOST_DEVICE inline uint32_t CrcOfSum(uint32_t sum, uint64_t bytes) {
  return ~(sum ^ MultiplyCrc(0xffffffffu, CrcShift(bytes)));
}

}  // namespace torus
