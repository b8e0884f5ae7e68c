// The functor that GPUs run, run here: against the processor's own conversions.
#include "runtime/element_cast.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/kernels.h"
#include "runtime/rng.h"

namespace torus {
namespace {

bool IsHalfNan(uint16_t bits) { return (bits & 0x7fffu) > 0x7c00u; }

Float16 HalfOf(uint16_t bits) {
  Float16 half;
  half.bits = bits;
  return half;
}

TEST(HalfBits, AllOf65536AgreeWithTheProcessor) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float ours = HalfBitsToFloat(static_cast<uint16_t>(bits));
    const float theirs = static_cast<float>(HalfOf(static_cast<uint16_t>(bits)));
    if (IsHalfNan(static_cast<uint16_t>(bits))) {
      ASSERT_TRUE(std::isnan(ours) && std::isnan(theirs)) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(ours), std::bit_cast<uint32_t>(theirs)) << bits;
    }
  }
}

// All neighbourhoods of a rounding: each half, the midpoint to the next one, and the floats beside
// both; and random floats of all exponents.
TEST(HalfBits, RoundingAgreesWithTheProcessor) {
  const auto check = [](float value) {
    const uint16_t ours = FloatToHalfBits(value), theirs = Float16(value).bits;
    if (std::isnan(value)) {
      ASSERT_TRUE(IsHalfNan(ours));
    } else {
      ASSERT_EQ(ours, theirs) << value;
    }
  };
  const float inf = std::numeric_limits<float>::infinity();
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const float low = HalfBitsToFloat(static_cast<uint16_t>(bits));
    const float high = bits == 0x7bff ? 65536 : HalfBitsToFloat(static_cast<uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    for (float value : {low, middle, high})
      for (float near : {std::nextafter(value, -inf), value, std::nextafter(value, inf)}) {
        check(near);
        check(-near);
      }
  }
  const RandomStream random({1});
  for (uint64_t i = 0; i < 1000000; ++i) check(std::bit_cast<float>(random.Word(i)));
}

TEST(BFloatBits, AgreeWithTheHostType) {
  const RandomStream random({2});
  for (uint64_t i = 0; i < 1000000; ++i) {
    const float value = std::bit_cast<float>(random.Word(i));
    ASSERT_EQ(FloatToBFloatBits(value), BFloat16(value).bits) << value;
  }
}

// Every pair of dtypes: the functor gives what Copy gives.
TEST(ElementCast, AgreesWithCopyForEveryPair) {
  const std::vector<double> samples{0, 1, 2, 3, 0.5, 100, 254.7, 0.333};
  for (int from = 0; from <= static_cast<int>(DType::kBool); ++from) {
    for (int to = 0; to <= static_cast<int>(DType::kBool); ++to) {
      VisitDType(static_cast<DType>(from), [&](auto from_zero) {
        VisitDType(static_cast<DType>(to), [&](auto to_zero) {
          using From = decltype(from_zero);
          using To = decltype(to_zero);
          const Tensor in = FromVector<double>(samples, {8}).To(kDTypeOf<From>);
          const Tensor out = in.To(kDTypeOf<To>);
          for (int i = 0; i < 8; ++i) {
            const To ours = ElementCast<To, From>()(in.data<From>()[i]);
            EXPECT_EQ(std::memcmp(&ours, out.data<To>() + i, sizeof(To)), 0)
                << Name(in.dtype()) << " to " << Name(out.dtype()) << " of " << samples[i];
          }
        });
      });
    }
  }
}

}  // namespace
}  // namespace torus
