#include "runtime/crc_shift.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "runtime/crc32c.h"

namespace torus {
namespace {

std::vector<std::byte> RandomBytes(size_t count) {
  std::mt19937 rng(static_cast<uint32_t>(count));
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng());
  return bytes;
}

// As a thread of the GPU's kernel does.
uint32_t SumOfPiece(std::span<const std::byte> piece, size_t behind) {
  uint32_t sum = 0;
  for (const std::byte byte : piece)
    sum = sum >> 8 ^ CrcOfByte((sum ^ std::to_integer<uint32_t>(byte)) & 0xff);
  return MultiplyCrc(sum, CrcShift(behind));
}

TEST(CrcShift, PiecesSumToTheChecksumOfTheWhole) {
  for (const size_t count : {0u, 1u, 7u, 8u, 9u, 100u, 4099u}) {
    const std::vector<std::byte> bytes = RandomBytes(count);
    for (const size_t piece : {1u, 3u, 64u, 5000u}) {
      uint32_t sum = 0;
      for (size_t begin = 0; begin < count; begin += piece) {
        const size_t end = std::min(count, begin + piece);
        sum ^= SumOfPiece(std::span(bytes).subspan(begin, end - begin), count - end);
      }
      EXPECT_EQ(CrcOfSum(sum, count), Crc32c(bytes)) << count << " in pieces of " << piece;
    }
  }
}

TEST(CrcShift, ShiftsByAnyLength) {
  EXPECT_EQ(CrcShift(0), 0x80000000u);
  EXPECT_EQ(MultiplyCrc(CrcShift(1000), CrcShift(234)), CrcShift(1234));
  EXPECT_EQ(MultiplyCrc(CrcShift(uint64_t{1} << 40), CrcShift(3)),
            CrcShift((uint64_t{1} << 40) + 3));
  EXPECT_EQ(MultiplyCrc(0x80000000u, 0x12345678u), 0x12345678u) << "1 changes nothing";
}

}  // namespace
}  // namespace torus
