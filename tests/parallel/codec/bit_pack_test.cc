#include "parallel/codec/bit_pack.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace torus::parallel {
namespace {

// Bit j of code i is bit i * bits + j of the stream; read here one bit at a time.
uint32_t CodeAt(const std::vector<std::byte>& stream, int64_t i, int bits) {
  uint32_t code = 0;
  for (int j = 0; j < bits; ++j) {
    const int64_t at = i * bits + j;
    code |= (static_cast<uint32_t>(stream[at / 8] >> (at % 8)) & 1u) << j;
  }
  return code;
}

TEST(BitPack, StreamsAreAsDocumentedAndComeBack) {
  std::mt19937 rng(1);
  for (int bits = 1; bits <= 16; ++bits)
    for (int64_t count = 0; count < 70; ++count) {
      std::vector<uint16_t> codes(count), back(count);
      for (uint16_t& code : codes) code = static_cast<uint16_t>(rng() & ((1u << bits) - 1));
      std::vector<std::byte> stream(PackedBytes(count, bits) + 1, std::byte{0xa5});
      PackBits(codes.data(), count, bits, stream.data());
      EXPECT_EQ(stream.back(), std::byte{0xa5}) << "wrote beyond the end";
      for (int64_t i = 0; i < count; ++i) ASSERT_EQ(CodeAt(stream, i, bits), codes[i]);
      UnpackBits(stream.data(), count, bits, back.data());
      EXPECT_EQ(back, codes) << count << " codes of " << bits << " bits";
    }
}

TEST(BitPack, UnusedBitsAreZero) {
  const uint16_t code = 0xf;
  std::byte out[2] = {std::byte{0xff}, std::byte{0xff}};
  PackBits(&code, 1, 4, out);
  EXPECT_EQ(out[0], std::byte{0x0f});
  PackBits(&code, 1, 12, out);
  EXPECT_EQ(out[1], std::byte{0});
}

}  // namespace
}  // namespace torus::parallel
