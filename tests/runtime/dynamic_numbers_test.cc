#include "runtime/dynamic_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace torus {
namespace {

TEST(DynamicNumbers, AscendOverSevenDecades) {
  for (const bool with_sign : {true, false}) {
    const auto numbers = DynamicNumbers(with_sign);
    float widest = 0;
    for (size_t i = 0; i + 1 < numbers.size(); ++i) {
      EXPECT_LT(numbers[i], numbers[i + 1]);
      widest = std::max(widest, numbers[i + 1] - numbers[i]);
    }
    EXPECT_EQ(std::ranges::count(numbers, 0.0f), 1);
    EXPECT_EQ(numbers[255], 1);
    // The middles of 2^6 or 2^7 parts of [0.1, 1].
    EXPECT_NEAR(widest, 0.9 / (with_sign ? 64 : 128), 1e-7);
    EXPECT_NEAR(numbers[with_sign ? 128 : 1], with_sign ? 0.55e-6 : 0.325e-6, 1e-13);
    EXPECT_NEAR(numbers[0], with_sign ? -(1 - 0.9 / 128) : 0, 1e-7);
  }
}

}  // namespace
}  // namespace torus
