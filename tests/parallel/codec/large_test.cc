// Tensors of 20,000,000 values: sizes, places and times that small ones do not reach.
#include <gtest/gtest.h>

#include "parallel/codec/make_codec.h"
#include "parallel/codec/order_statistics.h"
#include "runtime/parallel_for.h"
#include "tests/parallel/codec/exact_sort.h"
#include "tests/parallel/codec/round_trip.h"
#include "tests/testing/twins.h"

namespace torus::parallel {
namespace {

constexpr size_t kCount = 20'000'000;

const std::vector<float>& Values() {
  static const std::vector<float> values = [] {
    std::vector<float> drawn = Draw("normal", 1 << 16, 1);
    std::mt19937 rng(2);
    while (drawn.size() < kCount) {
      const float z = drawn[rng() & 0xffff];
      drawn.push_back(z * std::ldexp(1 + static_cast<float>(rng() & 0xff), -8));
    }
    return drawn;
  }();
  return values;
}

double LargestError(const std::vector<float>& out) {
  double largest = 0;
  for (size_t i = 0; i < kCount; ++i)
    largest = std::max(largest, std::fabs(double{out[i]} - Values()[i]));
  return largest;
}

TEST(Large, UniformIsWithinHalfAStep) {
  const auto [least, greatest] = std::ranges::minmax_element(Values());
  const auto codec = MakeCodec("uniform:8");
  const std::vector<std::byte> bytes = EncodeFlat(*codec, Values());
  EXPECT_EQ(bytes.size(), 8 + kCount);
  const double step = (double{*greatest} - *least) / 255;
  EXPECT_LE(LargestError(DecodeFlat(*codec, bytes, kCount)),
            step * (0.5 + 3 * std::ldexp(1.0, 8 - 24)) + 1e-6 * *greatest);
}

// Its cuts are those of a sort: each bucket's least value stands where the sorted ones say.
TEST(Large, SortQuantizationCutsWhereASortDoes) {
  SortQuantization codec(8);
  const std::vector<std::byte> bytes = EncodeFlat(codec, Values());
  ASSERT_EQ(bytes.size(), 8 + 32 + kCount);
  std::vector<float> sorted = Values();
  std::ranges::sort(sorted);
  double widest = 0;
  for (size_t k = 0; k < 4; ++k) {
    float pair[2];
    std::memcpy(pair, bytes.data() + 8 + 8 * k, sizeof(pair));
    EXPECT_EQ(pair[0], sorted[kCount * k / 4]) << "bucket " << k;
    widest = std::max<double>(widest, pair[1]);
  }
  EXPECT_LE(LargestError(DecodeFlat(codec, bytes, kCount)),
            widest * (0.5 + 3 * std::ldexp(1.0, 6 - 24)) + 1e-6);
}

TEST(Large, TopKKeepsExactlyItsShare) {
  const auto codec = MakeCodec("topk:0.01");
  const std::vector<float> out = RoundTrip(*codec, Values());
  size_t kept = 0;
  float least = std::numeric_limits<float>::infinity(), most_dropped = 0;
  for (size_t i = 0; i < kCount; ++i) {
    const bool is_kept = out[i] != 0;
    ASSERT_TRUE(!is_kept || out[i] == Values()[i]);
    kept += is_kept;
    float& bound = is_kept ? least : most_dropped;
    const float size = std::fabs(Values()[i]);
    bound = is_kept ? std::min(bound, size) : std::max(bound, size);
  }
  EXPECT_EQ(kept, kCount / 100);
  EXPECT_LE(most_dropped, least);
}

// Of codecs that take a second or less for so many values. Bytes of one thread at the narrowest
// vectors equal those of two at the widest.
TEST(Large, SameBytesWhateverTheTeamAndTheVectors) {
  const int before = TeamSize();
  for (const char* name :
       {"sortq:16", "sortq:8", "sortq:Q5S3", "uniform:12", "uniform:4:stochastic", "f16", "bf16",
        "f8:e4m3", "f8:e5m2", "dynamic8", "kmeans:4", "topk:0.1+sortq:8", "randk:0.1",
        "hadamard+uniform:4", "uniform:8/chunk:4096"}) {
    SCOPED_TRACE(name);
    const auto codec = MakeCodec(name);
    SetTeamSize(2);
    const std::vector<std::byte> bytes = EncodeFlat(*codec, Values());
    ASSERT_GT(bytes.size(), 0u);
    const std::vector<float> back = DecodeFlat(*codec, bytes, kCount);
    SetTeamSize(1);
    testing::AtTheNarrowestVectors([&] {
      EXPECT_TRUE(EncodeFlat(*codec, Values()) == bytes);
      EXPECT_TRUE(DecodeFlat(*codec, bytes, kCount) == back);
    });
  }
  SetTeamSize(before);
}

}  // namespace
}  // namespace torus::parallel
