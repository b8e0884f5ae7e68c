#include "tools/codec/link_trial.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/error.h"
#include "runtime/rng.h"

namespace torus::tools {
namespace {

Tensor Normal(const Shape& shape) {
  Tensor out(shape, DType::kF32);
  FillNormal(out, 0, 1, RandomStream({.seed = 5}));
  return out;
}

TEST(LinkTrial, AMicroBatchHasTheFilesValuesInTurn) {
  const std::vector<float> values = ToVector<float>(
      TrialMicroBatch({{"a", FromVector(std::vector<float>{1, 2}, {2})},
                       {"b", FromVector(std::vector<float>{3}, {1}).To(DType::kBF16)}}));
  ASSERT_EQ(values.size(), static_cast<size_t>(kTrialSide * kTrialSide));
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], 1 + i % 3);
  EXPECT_THROW(TrialMicroBatch({{"none", Zeros({0})}}), BadInput);
}

// Times are measured, and only their lower bounds can be tested: so is what bounds them from above.
TEST(LinkTrial, IsOverALinkOfItsSpeedOneWay) {
  const parallel::LinkTable links = TrialLink(1e9);
  EXPECT_EQ(links.Get(0, 1).Throughput(), 1e9 / 8);
  EXPECT_EQ(links.Get(0, 1).latency, 0);
  EXPECT_FALSE(std::isfinite(links.Get(1, 0).Throughput()));
}

// 16 MiB at 1 Gbit/s are 134 ms, an eighth of that with 4 bits a value. No message is there before
// the link has carried it.
TEST(LinkTrial, TakesAtLeastAsLongAsTheLinkNeeds) {
  const auto trials = TryLinks("uniform:4", TrialMicroBatch({{"x", Normal({1000})}}), {1e9}, 1);
  ASSERT_EQ(trials.size(), 1u);
  const LinkTrial& t = trials[0];
  const double bits = 32.0 * kTrialMicroBatches * kTrialSide * kTrialSide;
  EXPECT_EQ(t.codec, "uniform:4");
  EXPECT_DOUBLE_EQ(t.plain_computed, bits / 1e9);
  EXPECT_GE(t.plain, 0.999 * t.plain_computed);
  EXPECT_GE(t.coded, 0.999 * t.plain_computed / 8);
  EXPECT_GT(t.coded_computed, t.plain_computed / 8);
}

TEST(LinkTrial, RefusesWhatTheCodecCannotCarry) {
  const Tensor bad = Full({kTrialSide, kTrialSide}, std::numeric_limits<double>::infinity());
  EXPECT_THROW(TryLinks("f16", bad, {1e9}, 1), BadInput);
  EXPECT_THROW(TryLinks("f16", Zeros({kTrialSide, kTrialSide}), {0}, 1), BadInput);
}

TEST(LinkTrial, TextCountsThoseThatCameOutAsComputed) {
  const LinkTrial pays{.codec = "a",
                       .bits_per_second = 1e8,
                       .plain = 2,
                       .coded = 1,
                       .plain_computed = 2,
                       .coded_computed = 0.9};
  LinkTrial missed = pays;
  missed.coded = 3;
  const std::string text = TextOf({pays, missed});
  EXPECT_NE(text.find("1 of 2 as computed"), std::string::npos) << text;
  EXPECT_NE(text.find("0.100"), std::string::npos) << text;
}

}  // namespace
}  // namespace torus::tools
