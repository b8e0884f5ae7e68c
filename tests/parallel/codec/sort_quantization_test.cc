#include "parallel/codec/sort_quantization.h"

#include <gtest/gtest.h>

#include <thread>

#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "tests/parallel/codec/exact_sort.h"
#include "tests/testing/twins.h"

namespace torus::parallel {
namespace {

// The four by bits alone; then one bucket, more buckets, as many as can be, and the fewest bits.
constexpr SortqFormat kFormats[] = {{16}, {12}, {8}, {4}, {7, 0}, {8, 3}, {11, 6}, {6}, {2}};

// The header's bound: half a step, three float32 roundings of a quotient below 2^Q, and the
// result's own rounding.
double Bound(float step, float value, int step_bits) {
  const float size = std::fabs(value);
  const double ulp = double{std::nextafter(size, std::numeric_limits<float>::infinity())} - size;
  return step * (0.5 + 3 * std::ldexp(1.0, step_bits - 24)) + ulp / 2;
}

// Holds the wire and the decoded values against an exact sort.
void ExpectExact(const std::vector<float>& values, SortqFormat format) {
  SortQuantization codec(format);
  const int bits = format.bits;
  const int64_t n = static_cast<int64_t>(values.size()), buckets = codec.buckets();
  const std::vector<std::byte> bytes = Encode(codec, values);
  ASSERT_EQ(bytes.size(), 8 + 8 * buckets + (n * bits + 7) / 8);
  const Wire wire = ReadWire(bytes, codec);
  ASSERT_EQ(wire.count, values.size());
  const std::vector<float> back = Decode(codec, bytes, values.size());
  const std::vector<uint32_t> order = StableOrder(values);
  for (int64_t k = 0; k < buckets; ++k) {
    const int64_t begin = n * k / buckets, end = n * (k + 1) / buckets;
    if (begin == end) {
      ASSERT_EQ(wire.minimum[k], 0);
      ASSERT_EQ(wire.step[k], 0);
      continue;
    }
    const float low = values[order[begin]], high = values[order[end - 1]];
    ASSERT_EQ(wire.minimum[k], low) << "bucket " << k;
    // Rounded by at most one float: 2^-23 of a normal step, one unit of a denormal one.
    const double step = (double{high} - low) / ((1 << codec.step_bits()) - 1);
    ASSERT_NEAR(wire.step[k], step, std::max(std::ldexp(step, -23), std::ldexp(1.0, -149)));
    ASSERT_EQ(wire.step[k] == 0, low == high) << "bucket " << k;
    for (int64_t r = begin; r < end; ++r) {
      const uint32_t i = order[r];
      ASSERT_EQ(wire.bucket[i], k) << "value " << values[i] << " at " << i << ", rank " << r;
      ASSERT_EQ(back[i], std::fma(static_cast<float>(wire.point[i]), wire.step[k], low));
      ASSERT_LE(std::fabs(double{back[i]} - values[i]),
                Bound(wire.step[k], values[i], codec.step_bits()))
          << values[i] << " came back as " << back[i] << ", step " << wire.step[k];
    }
  }
}

TEST(SortQuantization, MeetsAnExactSortOnEveryDistribution) {
  for (const SortqFormat format : kFormats)
    for (const std::string& name : Distributions())
      for (size_t count : {1u, 2u, 15u, 16u, 17u, 1000u, 5003u}) {
        SCOPED_TRACE(fmt::format("{}, {} of {}", SortQuantization::NameOf(format), count, name));
        ASSERT_NO_FATAL_FAILURE(ExpectExact(Draw(name, count, 7), format));
      }
}

TEST(SortQuantization, MeetsAnExactSortOn200OddSizesAtEveryVectorWidth) {
  testing::ForEachVectorWidth([] {
    std::mt19937 rng(11);
    for (int i = 0; i < 200; ++i) {
      const size_t count = 2 * (rng() % 400) + 1;
      const std::string& name = Distributions()[rng() % Distributions().size()];
      for (const SortqFormat format : kFormats) {
        SCOPED_TRACE(fmt::format("{}, {} of {}", SortQuantization::NameOf(format), count, name));
        ASSERT_NO_FATAL_FAILURE(ExpectExact(Draw(name, count, rng()), format));
      }
    }
  });
}

// Large enough that a team shares each pass.
TEST(SortQuantization, SameBytesAndValuesWhateverTheTeam) {
  const int before = TeamSize();
  for (const std::string name : {"normal", "relu", "few_values", "mixed_scales"}) {
    const std::vector<float> values = Draw(name, 100003, 5);
    for (const SortqFormat format : kFormats) {
      SortQuantization codec(format);
      SetTeamSize(1);
      const std::vector<std::byte> bytes = Encode(codec, values);
      const std::vector<float> back = Decode(codec, bytes, values.size());
      for (int team : {2, 3}) {
        SetTeamSize(team);
        EXPECT_EQ(Encode(codec, values), bytes) << name << ", " << team << " threads";
        EXPECT_EQ(Decode(codec, bytes, values.size()), back) << name << ", " << team << " threads";
      }
    }
  }
  SetTeamSize(before);
}

TEST(SortQuantization, SameBytesAtEveryVectorWidth) {
  for (const std::string name : {"normal", "relu6", "mixed_scales"}) {
    const std::vector<float> values = Draw(name, 10007, 5);
    for (const SortqFormat format : kFormats) {
      SortQuantization codec(format);
      const std::vector<std::byte> bytes = Encode(codec, values);
      testing::ForEachVectorWidth([&] { EXPECT_EQ(Encode(codec, values), bytes) << name; });
    }
  }
}

TEST(SortQuantization, WireFormat) {
  SortQuantization codec(4);  // two buckets of eight points
  const std::vector<float> values{0, 7, 1, 8};
  const std::vector<std::byte> bytes = Encode(codec, values);
  const std::vector<int> expected{4,    0,    0,    0,    0, 0, 0, 0,  // count
                                  0,    0,    0,    0,                 // minimum 0
                                  0x24, 0x49, 0x12, 0x3e,              // step 1 / 7, rounded down
                                  0,    0,    0xe0, 0x40,              // minimum 7
                                  0x24, 0x49, 0x12, 0x3e,              // step 1 / 7
                                  0x80, 0xf7};                         // points 0, 8 + 0, 7, 8 + 7
  ASSERT_EQ(bytes.size(), expected.size());
  for (size_t i = 0; i < bytes.size(); ++i)
    EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << "byte " << i;
}

TEST(SortQuantization, EncodedBytesInClosedForm) {
  EXPECT_EQ(SortQuantization(16).EncodedBytes(1001), 8u + 128 + 2002);
  EXPECT_EQ(SortQuantization(12).EncodedBytes(1001), 8u + 64 + 1502);
  EXPECT_EQ(SortQuantization(8).EncodedBytes(1001), 8u + 32 + 1001);
  EXPECT_EQ(SortQuantization(4).EncodedBytes(1001), 8u + 16 + 501);
}

TEST(SortQuantization, SeveralRanksShareOneObject) {
  SortQuantization codec(8);
  std::vector<std::vector<float>> inputs;
  std::vector<std::vector<std::byte>> alone;
  for (uint32_t rank = 0; rank < 4; ++rank) {
    inputs.push_back(Draw("normal", 20001 + rank, rank));
    alone.push_back(Encode(codec, inputs.back()));
  }
  std::vector<std::vector<std::byte>> together(4);
  std::vector<std::thread> ranks;
  for (size_t rank = 0; rank < 4; ++rank)
    ranks.emplace_back([&, rank] {
      SetTeamSize(1);
      for (int i = 0; i < 5; ++i) together[rank] = Encode(codec, inputs[rank]);
    });
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(together, alone);
}

TEST(SortQuantization, EmptyIsAHeaderOfZeros) {
  for (const SortqFormat format : kFormats) {
    SortQuantization codec(format);
    const std::vector<std::byte> bytes = Encode(codec, {});
    EXPECT_EQ(bytes, std::vector<std::byte>(8 + 8 * codec.buckets()));
    EXPECT_TRUE(Decode(codec, bytes, 0).empty());
  }
}

TEST(SortQuantization, ConstantAndSingleComeBackExactly) {
  for (const SortqFormat format : kFormats)
    for (size_t count : {1u, 5u, 4099u})
      for (float value : {0.0f, -7.3f, 1e-45f, std::numeric_limits<float>::max()}) {
        SortQuantization codec(format);
        const std::vector<float> values(count, value);
        EXPECT_EQ(Decode(codec, Encode(codec, values), count), values);
      }
}

TEST(SortQuantization, TiesSplitInOrderOfIndex) {
  SortQuantization codec(8);  // four buckets of two
  const std::vector<float> values{5, 5, 1, 5, 5, 5, 9, 5};
  const Wire wire = ReadWire(Encode(codec, values), codec);
  EXPECT_EQ(wire.bucket, (std::vector<uint32_t>{0, 1, 0, 1, 2, 2, 3, 3}));
}

TEST(SortQuantization, ReachesBothEndsOfTheFloatRange) {
  const float most = std::numeric_limits<float>::max();
  for (const SortqFormat format : kFormats) {
    SortQuantization codec(format);
    const std::vector<float> values{most, -most, most, -most, 0, 1, -1, most};
    for (float v : Decode(codec, Encode(codec, values), values.size()))
      EXPECT_TRUE(std::isfinite(v));
    ASSERT_NO_FATAL_FAILURE(ExpectExact(values, format));
  }
}

TEST(SortQuantization, WritesNothingForInfiniteAndNaN) {
  for (const SortqFormat format : kFormats)
    for (float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
      SortQuantization codec(format);
      std::vector<float> values(10, 2.0f);
      values[3] = bad;
      std::vector<std::byte> bytes(codec.EncodedBytes(10));
      EXPECT_EQ(codec.Encode(values, bytes), 0u);
      EXPECT_THROW(Decode(codec, {}, 10), BadInput);
    }
}

TEST(SortQuantization, RefusesWhatDoesNotFit) {
  EXPECT_THROW(SortQuantization(17), BadInput);
  EXPECT_THROW(SortQuantization(0), BadInput);
  EXPECT_THROW(SortQuantization({4, 4}), BadInput);   // no bit for the step
  EXPECT_THROW(SortQuantization({10, 7}), BadInput);  // too many buckets
  SortQuantization codec(12);
  const std::vector<float> values(9, 1.0f);
  std::vector<std::byte> bytes(codec.EncodedBytes(9) - 1);
  EXPECT_THROW(codec.Encode(values, bytes), BadInput);
  bytes = Encode(codec, values);
  EXPECT_THROW(Decode(codec, bytes, 8), BadInput);
  EXPECT_THROW(Decode(codec, std::span(bytes).first(bytes.size() - 1), 9), BadInput);
  bytes[0] = std::byte{8};
  EXPECT_THROW(Decode(codec, bytes, 9), BadInput);
  bytes[0] = std::byte{9};
  bytes[15] = std::byte{0xff};  // of the first step: negative
  EXPECT_THROW(Decode(codec, bytes, 9), BadInput);
}

}  // namespace
}  // namespace torus::parallel
