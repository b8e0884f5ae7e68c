// The vector loops give the bits of the scalar arithmetic, at every vector width.
#include "parallel/codec/small_float_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "parallel/codec/small_float_bits.h"
#include "tests/testing/twins.h"

namespace torus::parallel {
namespace {

constexpr SmallFloat kAll[] = {SmallFloat::kF16, SmallFloat::kBF16, SmallFloat::kE4M3,
                               SmallFloat::kE5M2};

bool IsFloat8(SmallFloat format) { return format >= SmallFloat::kE4M3; }

int64_t BytesOf(SmallFloat format) { return IsFloat8(format) ? 1 : 2; }

uint16_t NumberOf(SmallFloat format, int power, float value) {
  const auto scaled = static_cast<float>(value * PowerOfTwo(power));
  switch (format) {
    case SmallFloat::kF16:
      return FiniteHalf::FromFloat(value);
    case SmallFloat::kBF16:
      return FiniteBFloat::FromFloat(value);
    case SmallFloat::kE4M3:
      return E4M3::FromFloat(scaled);
    default:
      return E5M2::FromFloat(scaled);
  }
}

float ValueOf(SmallFloat format, int power, uint16_t number) {
  switch (format) {
    case SmallFloat::kF16:
      return FiniteHalf::ToFloat(number);
    case SmallFloat::kBF16:
      return FiniteBFloat::ToFloat(number);
    case SmallFloat::kE4M3:
      return ScaledFloat8<E4M3>(static_cast<uint8_t>(number), PowerOfTwo(-power));
    default:
      return ScaledFloat8<E5M2>(static_cast<uint8_t>(number), PowerOfTwo(-power));
  }
}

bool IsFinite(SmallFloat format, uint16_t number) {
  if (format == SmallFloat::kE4M3) return (number & 0x7f) <= E4M3::kGreatest;
  if (format == SmallFloat::kE5M2) return (number & 0x7f) <= E5M2::kGreatest;
  return std::isfinite(ValueOf(format, 0, number));
}

std::vector<uint16_t> FiniteNumbers(SmallFloat format) {
  std::vector<uint16_t> numbers;
  for (int number = 0; number < 1 << 8 * BytesOf(format); ++number)
    if (IsFinite(format, static_cast<uint16_t>(number)))
      numbers.push_back(static_cast<uint16_t>(number));
  return numbers;
}

std::vector<int> Powers(SmallFloat format) {
  if (!IsFloat8(format)) return {0};
  return {kLeastScalePower, -31, -1, 0, 1, 30, 127, 128, 149, kMostScalePower};
}

// Every number's value, the floats around it, the middle to the next number and the floats around
// the middle: where rounding changes.
std::vector<float> ValuesAroundNumbers(SmallFloat format, int power) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> values;
  for (const uint16_t number : FiniteNumbers(format)) {
    const float value = ValueOf(format, power, number);
    const auto next = static_cast<uint16_t>(number + 1);
    const float above = IsFinite(format, next) ? ValueOf(format, power, next) : value;
    for (const float near : {value, value / 2 + above / 2})
      for (const float x :
           {near, std::nextafter(near, kInfinity), std::nextafter(near, -kInfinity)})
        if (std::isfinite(x)) values.push_back(x);
  }
  return values;
}

// Floats spread evenly over all finite bit patterns; for f8, those whose product is in its range.
std::vector<float> ValuesOfAllSizes(SmallFloat format, int power) {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 65521) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const float greatest = format == SmallFloat::kE4M3 ? 448.0f : 57344.0f;
    if (std::isfinite(value) &&
        (!IsFloat8(format) || std::fabs(value * PowerOfTwo(power)) <= greatest))
      values.push_back(value);
  }
  return values;
}

void ExpectScalarNumbers(SmallFloat format, int power, const std::vector<float>& values) {
  const int64_t size = BytesOf(format), count = static_cast<int64_t>(values.size());
  std::vector<std::byte> out(static_cast<size_t>(count * size));
  ASSERT_TRUE(EncodeSmallFloats(format, power, values.data(), count, out.data()));
  for (int64_t i = 0; i < count; ++i) {
    uint16_t number = 0;
    std::memcpy(&number, out.data() + i * size, size);
    ASSERT_EQ(number, NumberOf(format, power, values[i])) << values[i] << ", 2^" << power;
  }
}

TEST(SmallFloatKernel, EncodesTheBitsOfTheScalarArithmetic) {
  testing::ForEachVectorWidth([] {
    for (const SmallFloat format : kAll)
      for (const int power : Powers(format)) {
        SCOPED_TRACE(static_cast<int>(format));
        std::vector<float> around = ValuesAroundNumbers(format, power);
        // Rounding up beyond the greatest number is the caller's fault.
        if (IsFloat8(format))
          std::erase_if(around, [&](float x) {
            return std::fabs(x * PowerOfTwo(power)) >
                   (format == SmallFloat::kE4M3 ? 448.0 : 57344.0);
          });
        ExpectScalarNumbers(format, power, around);
        ExpectScalarNumbers(format, power, ValuesOfAllSizes(format, power));
      }
  });
}

TEST(SmallFloatKernel, DecodesTheBitsOfTheScalarArithmetic) {
  testing::ForEachVectorWidth([] {
    for (const SmallFloat format : kAll)
      for (const int power : Powers(format)) {
        const std::vector<uint16_t> numbers = FiniteNumbers(format);
        const int64_t size = BytesOf(format), count = static_cast<int64_t>(numbers.size());
        std::vector<std::byte> in(static_cast<size_t>(count * size));
        for (int64_t i = 0; i < count; ++i) std::memcpy(in.data() + i * size, &numbers[i], size);
        std::vector<float> out(numbers.size());
        ASSERT_TRUE(DecodeSmallFloats(format, power, in.data(), count, out.data()));
        for (int64_t i = 0; i < count; ++i)
          ASSERT_EQ(std::bit_cast<uint32_t>(out[i]),
                    std::bit_cast<uint32_t>(ValueOf(format, power, numbers[i])))
              << numbers[i] << ", 2^" << power;
      }
  });
}

// From no value to several vectors: all values and no byte more.
TEST(SmallFloatKernel, WritesAnyCount) {
  testing::ForEachVectorWidth([] {
    for (const SmallFloat format : kAll)
      for (int64_t count = 0; count <= 70; ++count) {
        const int64_t size = BytesOf(format);
        std::vector<float> in, out(static_cast<size_t>(count) + 1, -7);
        for (int64_t i = 0; i < count; ++i) in.push_back(static_cast<float>(i % 13) - 6);
        std::vector<std::byte> bytes(static_cast<size_t>(count * size) + 1, std::byte{0xa5});
        ASSERT_TRUE(EncodeSmallFloats(format, 0, in.data(), count, bytes.data()));
        ASSERT_EQ(bytes.back(), std::byte{0xa5});
        ASSERT_TRUE(DecodeSmallFloats(format, 0, bytes.data(), count, out.data()));
        ASSERT_EQ(out.back(), -7);
        out.pop_back();
        ASSERT_EQ(out, in);  // each is a number of every format
      }
  });
}

TEST(SmallFloatKernel, FindsWhatIsNotFiniteWhereverItIs) {
  constexpr int64_t kCount = 37;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  testing::ForEachVectorWidth([] {
    for (const SmallFloat format : kAll)
      for (int64_t at = 0; at < kCount; ++at) {
        std::vector<std::byte> bytes(2 * kCount);
        for (const float bad : {kInfinity, -kInfinity, std::nanf("")}) {
          std::vector<float> in(kCount, 1);
          in[at] = bad;
          EXPECT_FALSE(EncodeSmallFloats(format, 0, in.data(), kCount, bytes.data()));
        }
        for (int number = 0; number < 1 << 8 * BytesOf(format); ++number) {
          if (IsFinite(format, static_cast<uint16_t>(number))) continue;
          std::ranges::fill(bytes, std::byte{0});
          std::memcpy(bytes.data() + at * BytesOf(format), &number, BytesOf(format));
          std::vector<float> out(kCount);
          ASSERT_FALSE(DecodeSmallFloats(format, 0, bytes.data(), kCount, out.data())) << number;
        }
      }
  });
}

}  // namespace
}  // namespace torus::parallel
