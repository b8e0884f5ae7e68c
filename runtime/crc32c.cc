#include "runtime/crc32c.h"

#include <array>
#include <cstring>

#include "runtime/crc_shift.h"

namespace torus {
namespace {

#if defined(__SSE4_2__)

uint32_t Add8(uint32_t sum, uint64_t bytes) {
  return static_cast<uint32_t>(__builtin_ia32_crc32di(sum, bytes));
}

uint32_t Add1(uint32_t sum, uint8_t byte) { return __builtin_ia32_crc32qi(sum, byte); }

#elif defined(__ARM_FEATURE_CRC32)

uint32_t Add8(uint32_t sum, uint64_t bytes) { return __builtin_aarch64_crc32cx(sum, bytes); }

uint32_t Add1(uint32_t sum, uint8_t byte) { return __builtin_aarch64_crc32cb(sum, byte); }

#else

// tables[k][b]: the remainder of byte b followed by k bytes.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables kTables = [] {
  Tables tables{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t sum = b;
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? kCrc32cPolynomial : 0u);
    tables[0][b] = sum;
  }
  for (size_t k = 1; k < 8; ++k)
    for (uint32_t b = 0; b < 256; ++b)
      tables[k][b] = tables[k - 1][b] >> 8 ^ tables[0][tables[k - 1][b] & 0xff];
  return tables;
}();

uint32_t Add8(uint32_t sum, uint64_t bytes) {
  bytes ^= sum;
  uint32_t next = 0;
  for (size_t k = 0; k < 8; ++k) next ^= kTables[7 - k][bytes >> 8 * k & 0xff];
  return next;
}

uint32_t Add1(uint32_t sum, uint8_t byte) { return sum >> 8 ^ kTables[0][(sum ^ byte) & 0xff]; }

#endif

constexpr size_t kPiece = 8192;  // long beside the joining of three

uint64_t Load8(const std::byte* from) {
  uint64_t eight;
  std::memcpy(&eight, from, sizeof(eight));
  return eight;
}

// The instruction takes one word in a cycle but returns its result after three, so three pieces are
// summed beside each other.
uint32_t AddThreePieces(uint32_t sum, const std::byte* bytes) {
  static const uint32_t kBehind = CrcShift(kPiece);
  uint32_t second = 0, third = 0;
  for (size_t i = 0; i < kPiece; i += sizeof(uint64_t)) {
    sum = Add8(sum, Load8(bytes + i));
    second = Add8(second, Load8(bytes + kPiece + i));
    third = Add8(third, Load8(bytes + 2 * kPiece + i));
  }
  return MultiplyCrc(MultiplyCrc(sum, kBehind) ^ second, kBehind) ^ third;
}

}  // namespace

uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t before) {
  uint32_t sum = ~before;
  size_t i = 0;
  for (; i + 3 * kPiece <= bytes.size(); i += 3 * kPiece)
    sum = AddThreePieces(sum, bytes.data() + i);
  for (; i + sizeof(uint64_t) <= bytes.size(); i += sizeof(uint64_t))
    sum = Add8(sum, Load8(bytes.data() + i));
  for (; i < bytes.size(); ++i) sum = Add1(sum, static_cast<uint8_t>(bytes[i]));
  return ~sum;
}

uint32_t JoinCrc32c(uint32_t first, uint32_t second, uint64_t bytes) {
  return MultiplyCrc(first, CrcShift(bytes)) ^ second;
}

}  // namespace torus
