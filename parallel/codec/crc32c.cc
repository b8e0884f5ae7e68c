#include "parallel/codec/crc32c.h"

#include <array>
#include <cstring>

namespace torus::parallel {
namespace {

#if defined(__SSE4_2__)

uint32_t Add8(uint32_t sum, uint64_t bytes) {
  return static_cast<uint32_t>(__builtin_ia32_crc32di(sum, bytes));
}

uint32_t Add1(uint32_t sum, uint8_t byte) { return __builtin_ia32_crc32qi(sum, byte); }

#else

// tables[k][b]: the remainder of byte b followed by k bytes.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables kTables = [] {
  Tables tables{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t sum = b;
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0x82f63b78u : 0u);
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

}  // namespace

uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t before) {
  uint32_t sum = ~before;
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= bytes.size(); i += sizeof(uint64_t)) {
    uint64_t eight;
    std::memcpy(&eight, bytes.data() + i, sizeof(eight));
    sum = Add8(sum, eight);
  }
  for (; i < bytes.size(); ++i) sum = Add1(sum, static_cast<uint8_t>(bytes[i]));
  return ~sum;
}

}  // namespace torus::parallel
