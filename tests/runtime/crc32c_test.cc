#include "runtime/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace torus {
namespace {

// RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
TEST(Crc32c, HasThePublishedValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

std::vector<std::byte> RandomBytes(size_t count) {
  std::mt19937 rng(7);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng());
  return bytes;
}

// By the definition: a polynomial division, bit by bit.
uint32_t Plain(std::span<const std::byte> bytes) {
  uint32_t sum = ~0u;
  for (const std::byte byte : bytes) {
    sum ^= std::to_integer<uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0x82f63b78u : 0u);
  }
  return ~sum;
}

// Lengths around that from which pieces are summed beside each other.
TEST(Crc32c, IsTheRemainderForAnyLength) {
  const std::vector<std::byte> bytes = RandomBytes(100'000);
  for (const size_t count : {1u, 7u, 8u, 9u, 24575u, 24576u, 24577u, 49152u, 49159u, 100'000u})
    EXPECT_EQ(Crc32c(std::span(bytes).first(count)), Plain(std::span(bytes).first(count))) << count;
}

TEST(Crc32c, GoesOnFromWhatIsBeforeAndJoins) {
  const std::vector<std::byte> bytes = RandomBytes(60'000);
  const uint32_t whole = Crc32c(bytes);
  for (const size_t cut : {0u, 1u, 13u, 24576u, 30'001u, 59'999u, 60'000u}) {
    const auto first = std::span(bytes).first(cut), second = std::span(bytes).subspan(cut);
    EXPECT_EQ(Crc32c(second, Crc32c(first)), whole) << cut;
    EXPECT_EQ(JoinCrc32c(Crc32c(first), Crc32c(second), second.size()), whole) << cut;
  }
}

}  // namespace
}  // namespace torus
