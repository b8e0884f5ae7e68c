// The error that each codec's header states, on every distribution.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "parallel/codec/dynamic8.h"
#include "parallel/codec/make_codec.h"
#include "tests/parallel/codec/exact_sort.h"
#include "tests/parallel/codec/round_trip.h"

namespace torus::parallel {
namespace {

constexpr size_t kCounts[] = {1, 2, 15, 1000, 5003};

double Ulp(double value) {
  if (std::fabs(value) >= 0x1p127) return 0x1p104;
  const float size = static_cast<float>(std::fabs(value));
  return double{std::nextafter(size, std::numeric_limits<float>::infinity())} - size;
}

// Calls check(values, decoded) for each distribution and size.
template <class Check>
void OnEveryDistribution(const std::string& codec_name, const Check& check) {
  const auto codec = MakeCodec(codec_name);
  for (const std::string& name : Distributions())
    for (const size_t count : kCounts) {
      SCOPED_TRACE(fmt::format("{}: {} of {}", codec_name, count, name));
      const std::vector<float> values = Draw(name, count, 17);
      ASSERT_NO_FATAL_FAILURE(check(values, RoundTrip(*codec, values)));
    }
}

struct Range {
  double least, greatest;
};

Range RangeIn(const std::vector<float>& values) {
  const auto [least, greatest] = std::ranges::minmax_element(values);
  return {*least, *greatest};
}

// The rounding of the step itself, one float of it, counts once for each of the points.
TEST(ErrorBound, UniformIsWithinHalfAStep) {
  for (int bits : {1, 2, 5, 8, 11, 16})
    OnEveryDistribution(fmt::format("uniform:{}", bits), [&](const auto& in, const auto& out) {
      const Range range = RangeIn(in);
      const double points = std::ldexp(1.0, bits) - 1;
      const double step = (range.greatest - range.least) / points;
      const double bound = step * (0.5 + 3 * std::ldexp(1.0, bits - 24)) + points * Ulp(step);
      for (size_t i = 0; i < in.size(); ++i)
        ASSERT_LE(std::fabs(double{out[i]} - in[i]), bound + Ulp(in[i]) / 2) << in[i];
    });
}

// Neighbouring parts differ a thousandfold, so that a mix-up of them shows.
void ExpectOwnRanges(const char* grain, int parts, const std::function<int(int64_t)>& part_of) {
  SCOPED_TRACE(grain);
  const CodecContext context{.shape = {6, 5, 4, 3}};
  std::vector<float> in = Draw("normal", 360, 17);
  for (int64_t i = 0; i < 360; ++i) in[i] *= part_of(i) % 2 == 0 ? 1 : 1000;
  const auto codec = MakeCodec(std::string("uniform:8") + grain);
  const std::vector<float> out = DecodeIn(*codec, context, EncodeIn(*codec, context, in));
  for (int part = 0; part < parts; ++part) {
    std::vector<float> own;
    for (int64_t i = 0; i < 360; ++i)
      if (part_of(i) == part) own.push_back(in[i]);
    const Range range = RangeIn(own);
    const double step = (range.greatest - range.least) / 255;
    for (int64_t i = 0; i < 360; ++i) {
      if (part_of(i) != part) continue;
      ASSERT_LE(std::fabs(double{out[i]} - in[i]),
                step * (0.5 + 3 * std::ldexp(1.0, 8 - 24)) + 255 * Ulp(step) + Ulp(in[i]) / 2)
          << "part " << part << ", value " << i;
    }
  }
}

TEST(ErrorBound, OfEachPartIsThatOfItsOwnRange) {
  ExpectOwnRanges("/sample", 6, [](int64_t i) { return static_cast<int>(i / 60); });
  ExpectOwnRanges("/channel", 3, [](int64_t i) { return static_cast<int>(i % 3); });
  ExpectOwnRanges("/chunk:50", 8, [](int64_t i) { return static_cast<int>(i / 50); });
}

TEST(ErrorBound, StochasticUniformIsWithinAStep) {
  for (int bits : {1, 4, 8})
    OnEveryDistribution(
        fmt::format("uniform:{}:stochastic", bits), [&](const auto& in, const auto& out) {
          const Range range = RangeIn(in);
          const double points = std::ldexp(1.0, bits) - 1;
          const double step = (range.greatest - range.least) / points;
          for (size_t i = 0; i < in.size(); ++i)
            ASSERT_LE(std::fabs(double{out[i]} - in[i]), step + points * Ulp(step) + Ulp(in[i]) / 2)
                << in[i];
        });
}

void ExpectRelative(const std::string& name, int precision, double tiny, double greatest) {
  OnEveryDistribution(name, [&](const auto& in, const auto& out) {
    for (size_t i = 0; i < in.size(); ++i) {
      const double want = std::clamp<double>(in[i], -greatest, greatest);
      const double bound = std::ldexp(std::fabs(want), -precision) + tiny;
      ASSERT_LE(std::fabs(out[i] - want), bound) << in[i];
    }
  });
}

TEST(ErrorBound, SixteenBitFloats) {
  ExpectRelative("f16", 11, std::ldexp(1.0, -25), 65504);
  ExpectRelative("bf16", 8, std::ldexp(1.0, -134), std::numeric_limits<float>::max());
}

// The scale brings the greatest magnitude into the upper half of the format's range.
void ExpectFloat8(const std::string& name, int precision, int least_power, double greatest) {
  OnEveryDistribution(name, [&](const auto& in, const auto& out) {
    const Range range = RangeIn(in);
    const double most = std::max(-range.least, range.greatest);
    const double scale = most > 0 ? greatest / 2 / most : 1;  // at least
    for (size_t i = 0; i < in.size(); ++i) {
      const double tiny = std::ldexp(0.5, least_power) / scale;
      ASSERT_LE(std::fabs(double{out[i]} - in[i]),
                std::ldexp(std::fabs(in[i]), -precision) + tiny + Ulp(in[i]))
          << in[i];
    }
  });
}

TEST(ErrorBound, EightBitFloats) {
  ExpectFloat8("f8:e4m3", 4, -9, 448);
  ExpectFloat8("f8:e5m2", 3, -16, 57344);
}

TEST(ErrorBound, Dynamic8GivesTheNearestNumberOfTheBlock) {
  constexpr size_t kBlock = Dynamic8::kUsualBlock;
  OnEveryDistribution("dynamic8", [&](const auto& in, const auto& out) {
    for (size_t begin = 0; begin < in.size(); begin += kBlock) {
      const size_t end = std::min(in.size(), begin + kBlock);
      double most = 0;
      for (size_t i = begin; i < end; ++i) most = std::max<double>(most, std::fabs(in[i]));
      for (size_t i = begin; i < end; ++i) {
        double nearest = std::numeric_limits<double>::infinity();
        for (const float number : Dynamic8::Numbers())
          nearest = std::min(nearest, std::fabs(in[i] - most * number));
        ASSERT_LE(std::fabs(double{out[i]} - in[i]), nearest + 2 * Ulp(most)) << in[i];
      }
    }
  });
}

TEST(ErrorBound, Dynamic8HasTheNumbersOfThePaper) {
  const std::span<const float> numbers = Dynamic8::Numbers();
  ASSERT_EQ(numbers.size(), 256u);
  EXPECT_TRUE(std::ranges::is_sorted(numbers));
  EXPECT_EQ(numbers.back(), 1.0f);
  EXPECT_EQ(std::ranges::count(numbers, 0.0f), 1);
  // The greatest decade has 64 parts of [0.1, 1]; its last middle is half a part below 1.
  EXPECT_FLOAT_EQ(numbers[254], 1 - 0.9f / 128);
  EXPECT_FLOAT_EQ(numbers[0], -(1 - 0.9f / 128));
  // The least positive number: the middle of [0.1, 1] times 10^-6.
  EXPECT_FLOAT_EQ(*std::ranges::upper_bound(numbers, 0.0f), 0.55e-6f);
}

// No number of the codebook is nearer than the one that was chosen: those seen are a part of it.
TEST(ErrorBound, KMeansGivesTheNearestNumber) {
  for (int bits : {1, 3, 8})
    OnEveryDistribution(fmt::format("kmeans:{}", bits), [&](const auto& in, const auto& out) {
      std::vector<float> numbers(out);
      std::ranges::sort(numbers);
      numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
      ASSERT_LE(numbers.size(), 1u << bits);
      const Range range = RangeIn(in);
      ASSERT_GE(numbers.front(), range.least);
      ASSERT_LE(numbers.back(), range.greatest);
      for (size_t i = 0; i < in.size(); ++i) {
        const auto above = std::ranges::lower_bound(numbers, in[i]);
        double nearest = std::numeric_limits<double>::infinity();
        if (above != numbers.end()) nearest = double{*above} - in[i];
        if (above != numbers.begin()) nearest = std::min(nearest, double{in[i]} - above[-1]);
        ASSERT_LE(std::fabs(double{out[i]} - in[i]), nearest) << in[i];
      }
    });
}

double SquaredError(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return sum;
}

// Numbers where the values are beat evenly spaced ones. Of a normal distribution the best 16 have a
// squared error of 0.009497 (Max, "Quantizing for minimum distortion", 1960); histogram bins cost
// some of that, and a sample has a spread of its own.
TEST(ErrorBound, KMeansComesNearTheBestQuantizerOfANormal) {
  const std::vector<float> values = Draw("normal", 200000, 4);
  const double mean =
      SquaredError(values, RoundTrip(*MakeCodec("kmeans:4"), values)) / values.size();
  EXPECT_GT(mean, 0.0090);
  EXPECT_LT(mean, 0.0103);
}

TEST(ErrorBound, TopKKeepsTheGreatestExactly) {
  OnEveryDistribution("topk:0.1", [&](const auto& in, const auto& out) {
    const size_t kept = static_cast<size_t>(std::ceil(0.1 * static_cast<double>(in.size())));
    std::vector<float> sizes;
    for (const float value : in) sizes.push_back(std::fabs(value));
    std::ranges::sort(sizes, std::greater<>());
    size_t exact = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      const float size = std::fabs(in[i]);
      ASSERT_TRUE(size <= sizes[kept - 1] || out[i] == in[i]);
      ASSERT_TRUE(size >= sizes[kept - 1] || out[i] == 0);
      exact += std::bit_cast<uint32_t>(out[i]) == std::bit_cast<uint32_t>(in[i]) && in[i] != 0;
      ASSERT_TRUE(out[i] == in[i] || out[i] == 0);
    }
    ASSERT_TRUE(sizes[kept - 1] == 0 || exact == kept) << exact << " of " << kept;
  });
}

TEST(ErrorBound, TopKOfEqualMagnitudesKeepsTheEarlier) {
  const std::vector<float> values{1, -2, 2, -2, 2, 0, 2, 1, 1, 1};
  EXPECT_EQ(RoundTrip(*MakeCodec("topk:0.3"), values),
            (std::vector<float>{0, -2, 2, -2, 0, 0, 0, 0, 0, 0}));
}

TEST(ErrorBound, RandKKeepsItsShareAtRandom) {
  const auto codec = MakeCodec("randk:0.25");
  const std::vector<float> values(4000, 1.0f);
  std::vector<int> times(values.size());
  constexpr int kDraws = 200;
  for (int step = 0; step < kDraws; ++step) {
    CodecContext context = CodecContext::Flat(4000);
    context.step = step;
    const std::vector<float> out = DecodeIn(*codec, context, EncodeIn(*codec, context, values));
    ASSERT_EQ(std::ranges::count(out, 1.0f), 1000);
    for (size_t i = 0; i < out.size(); ++i) times[i] += out[i] == 1;
  }
  // Binomial with mean 50 and deviation 6.1: six of them cover 4000 places but for one run in
  // 10^5, and this run is always the same.
  const auto [least, most] = std::ranges::minmax_element(times);
  EXPECT_GT(*least, 50 - 37);
  EXPECT_LT(*most, 50 + 37);
}

// What the quantizer did to the rotated values is, as a vector, as long as what comes back.
TEST(ErrorBound, TheRotationIsOrthogonal) {
  const auto codec = MakeCodec("hadamard");
  for (const std::string name : {"normal", "relu", "constant", "heavy_tail"})
    for (const size_t count : {1u, 3u, 1024u, 5003u}) {
      const std::vector<float> values = Draw(name, count, 2), back = RoundTrip(*codec, values);
      double norm = 0;
      for (const float value : values) norm += double{value} * value;
      // Twenty additions and two products, each of which rounds by 2^-24 of the norm.
      EXPECT_LE(std::sqrt(SquaredError(values, back)), 22 * std::ldexp(std::sqrt(norm), -24));
    }
}

TEST(ErrorBound, TheRotationSpreadsAnOutlier) {
  std::vector<float> values = Draw("normal", 8192, 6);
  values[77] = 1000;
  const double plain = SquaredError(values, RoundTrip(*MakeCodec("uniform:4"), values));
  const double rotated = SquaredError(values, RoundTrip(*MakeCodec("hadamard+uniform:4"), values));
  EXPECT_LT(rotated, plain / 4);
}

// All rotated values of a block of zeros are rounded alike, to the point next to 0. Of the sum of
// 1024 such errors with random signs, divided by 32, six deviations are a chance of 10^-6.
TEST(ErrorBound, ABlockOfZerosHasNoLargeError) {
  std::vector<float> values = Draw("normal", 4096, 6);
  std::ranges::fill(std::span(values).subspan(1024, 1024), 0.0f);
  const Range range = RangeIn(values);
  const std::vector<float> back = RoundTrip(*MakeCodec("hadamard+uniform:4"), values);
  const double step = 2 * (range.greatest - range.least) / 15;  // the rotation can widen the range
  double most = 0;
  for (const float value : std::span(back).subspan(1024, 1024))
    most = std::max(most, std::fabs(double{value}));
  EXPECT_LT(most, 6 * step / 2);
}

TEST(ErrorBound, StochasticRoundingHasTheValueForItsMean) {
  const auto codec = MakeCodec("uniform:2:stochastic");
  const std::vector<float> values{0, 0.3f, 1.45f, 2.9f, 3};
  std::vector<double> sums(values.size());
  constexpr int kDraws = 20000;
  CodecContext context = CodecContext::Flat(5);
  for (context.step = 0; context.step < kDraws; ++context.step) {
    const std::vector<float> out = DecodeIn(*codec, context, EncodeIn(*codec, context, values));
    for (size_t i = 0; i < out.size(); ++i) sums[i] += out[i];
  }
  // The deviation of a mean is at most 1/2 / sqrt(20000) = 0.0035.
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(sums[i] / kDraws, values[i], 6 * 0.0035);
}

}  // namespace
}  // namespace torus::parallel
