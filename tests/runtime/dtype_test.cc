#include "runtime/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace torus {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(DType, SizesAndNames) {
  EXPECT_EQ(SizeOf(DType::kF64), 8u);
  EXPECT_EQ(SizeOf(DType::kBF16), 2u);
  EXPECT_EQ(SizeOf(DType::kBool), 1u);
  EXPECT_EQ(Name(DType::kBF16), "bf16");
  EXPECT_EQ(Name(DType::kI64), "i64");
  EXPECT_TRUE(IsFloating(DType::kF16));
  EXPECT_FALSE(IsFloating(DType::kI64));
}

TEST(Float16, RoundsToNearestEven) {
  EXPECT_EQ(Float16(1.0f).bits, 0x3c00);
  // Between 1 and 1 + 2^-10 the middle goes to the even one; between 1 + 2^-10 and 1 + 2^-9 too,
  // which is upward.
  EXPECT_EQ(Float16(1 + 0x1p-11f).bits, 0x3c00);
  EXPECT_EQ(Float16(1 + 0x1p-11f + 0x1p-20f).bits, 0x3c01);
  EXPECT_EQ(Float16(1 + 3 * 0x1p-11f).bits, 0x3c02);
  EXPECT_EQ(Float16(65504.0f).bits, 0x7bff);
  EXPECT_EQ(Float16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0f).bits, 0x7c00);
}

TEST(Float16, SmallAndSpecial) {
  EXPECT_EQ(Float16(0x1p-24f).bits, 1);  // the smallest denormal
  EXPECT_EQ(Float16(0x1p-25f).bits, 0);  // the middle to zero: even
  EXPECT_EQ(Float16(0x1.8p-25f).bits, 1);
  EXPECT_EQ(Float16(-0.0f).bits, 0x8000);
  EXPECT_EQ(Float16(-kInf).bits, 0xfc00);
  EXPECT_TRUE(std::isnan(static_cast<float>(Float16(std::nanf("")))));
  EXPECT_EQ(static_cast<float>(Float16(0x1p-24f)), 0x1p-24f);
}

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(1 + 0x1p-8f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(1 + 0x1p-8f + 0x1p-20f).bits, 0x3f81);
  EXPECT_EQ(BFloat16(1 + 3 * 0x1p-8f).bits, 0x3f82);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(BFloat16(-kInf).bits, 0xff80);
}

// A NaN whose upper half is zero must not become an infinity.
TEST(BFloat16, NanStaysNan) {
  const float quiet = std::bit_cast<float>(0x7f800001u);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(quiet))));
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0xffffffffu)))));
}

TEST(VisitCompute, RefusesOthersByName) {
  try {
    VisitCompute("exp", DType::kI32, [](auto) {});
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(), "[exp] needs f32 or f64, got i32");
  }
}

}  // namespace
}  // namespace torus
