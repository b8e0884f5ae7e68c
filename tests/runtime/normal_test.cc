#include "runtime/normal.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "runtime/philox.h"

namespace torus {
namespace {

// A million numbers at three scales: where the vectors cannot be sure of a last bit, once in a few
// hundred thousand, they must ask the plain function.
TEST(NormalPairs, HaveTheBitsOfThePlainFunction) {
  constexpr int64_t kPairs = 170001;  // and a part of a vector
  std::vector<uint32_t> words(4 * kPairs);
  PhiloxBlocks(0, 5, {1, 2}, kPairs, words.data());
  std::vector<float> values(2 * kPairs);
  using Scale = std::pair<double, double>;
  for (const auto& [mean, stddev] : {Scale(0, 0.02), Scale(1e-3, 1), Scale(-40, 1e-3)}) {
    NormalPairs(words.data(), kPairs, mean, stddev, values.data());
    for (int64_t i = 0; i < kPairs; ++i) {
      const auto [a, b] = NormalPair(words.data() + 4 * i);
      ASSERT_EQ(values[2 * i], static_cast<float>(mean + stddev * a));
      ASSERT_EQ(values[2 * i + 1], static_cast<float>(mean + stddev * b));
    }
  }
}

// The ends of the intervals: a radius of 0, and the largest that 53 bits give.
TEST(NormalPairs, TakeExtremeWords) {
  const uint32_t most = ~0u;
  std::vector<uint32_t> words;
  for (int i = 0; i < 8; ++i) words.insert(words.end(), {0, 0, 0, 0, most, most, most, most});
  std::vector<float> values(words.size() / 2);
  NormalPairs(words.data(), static_cast<int64_t>(words.size() / 4), 0, 1, values.data());
  for (size_t i = 0; i < values.size(); i += 4) {
    const auto [a, b] = NormalPair(words.data() + 4);
    EXPECT_EQ(values[i], 0);
    EXPECT_EQ(values[i + 1], 0);
    EXPECT_EQ(values[i + 2], static_cast<float>(a));
    EXPECT_EQ(values[i + 3], static_cast<float>(b));
  }
}

}  // namespace
}  // namespace torus
