#include "ops/dropout/dropout.h"

#include <cmath>
#include <span>

#include "ops/dropout/part_dropout.h"
#include "runtime/parallel_for.h"
#include "tests/ops/op_test.h"
#include "tests/testing/error_of.h"

namespace torus::ops {
namespace {

StepContext Context(const std::vector<int64_t>& samples, int64_t step = 0) {
  return {.seed = 7, .step = step, .samples = samples};
}

testing::CheckedFunction DropoutOf(double p, const std::vector<int64_t>& samples) {
  return [=](const Variables& in) { return Variables{Dropout(in[0], p, Context(samples), 3)}; };
}

std::vector<float> OnesAfter(const std::vector<int64_t>& samples, int64_t step = 0,
                             uint64_t layer = 3) {
  const Variable ones(Full({static_cast<int64_t>(samples.size()), 2503}, 1));
  return ToVector<float>(Dropout(ones, 0.25, Context(samples, step), layer).data());
}

GRADIENT_CASE(dropout, Half) { Check(DropoutOf(0.5, {4, 9}), {TransposedLeaf({2, 13})}); }
GRADIENT_CASE(dropout, Tokens) { Check(DropoutOf(0.1, {0, 1}), {RandomLeaf({6, 3})}); }
GRADIENT_CASE(dropout, Everything) { Check(DropoutOf(1, {0}), {RandomLeaf({1, 3})}); }
GRADIENT_CASE(dropout, Empty) { Check(DropoutOf(0.5, {}), {RandomLeaf({0, 3})}); }

// These two are a product with dropped ones.
GRADIENT_CASE(mul, DroppedChannels) {
  Check(
      [](const Variables& in) {
        return Variables{Dropout2d(in[0], 0.5, Context({4, 9}), 3)};
      },
      {TransposedLeaf({2, 2, 3, 4})});
}
GRADIENT_CASE(mul, DroppedSamples) {
  for (const DepthMode mode : {DepthMode::kRow, DepthMode::kBatch})
    Check(
        [=](const Variables& in) {
          return Variables{StochasticDepth(in[0], 0.5, mode, Context({4, 9, 2}), 3)};
        },
        {RandomLeaf({3, 2, 2})});
}

// Each channel is whole or gone, by the word of its number in the stream of its sample.
TEST(Dropout, OfChannelsIsThatOfOneElementEach) {
  constexpr int64_t kChannels = 200;
  const Variable ones(Full({2, 3, 2, kChannels}, 1)), one(Full({2, kChannels}, 1));
  const Variable kept = Dropout2d(ones, 0.25, Context({5, 8}), 3);
  const auto got = ToVector<float>(kept.data());
  const auto want = ToVector<float>(Dropout(one, 0.25, Context({5, 8}), 3).data());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], want[i / (6 * kChannels) * kChannels + i % kChannels]) << i;
  StepContext evaluation = Context({5, 8});
  evaluation.training = false;
  EXPECT_EQ(Dropout2d(ones, 0.25, evaluation, 3), ones);
  EXPECT_THROW(Dropout2d(one, 0.25, Context({5, 8}), 3), BadInput) << "no images";
}

TEST(StochasticDepth, DropsRowsByTheirSampleAndBatchesByTheStep) {
  const auto dropped = [](DepthMode mode, const std::vector<int64_t>& samples, int64_t step) {
    const Variable ones(Full({std::ssize(samples), 2}, 1));
    return ToVector<float>(StochasticDepth(ones, 0.25, mode, Context(samples, step), 3).data());
  };
  double zeros = 0;
  constexpr int64_t kSteps = 400;
  for (int64_t step = 0; step < kSteps; ++step) {
    const auto rows = dropped(DepthMode::kRow, {5, 8}, step);
    EXPECT_EQ(rows[0], rows[1]);
    EXPECT_EQ(rows[2], dropped(DepthMode::kRow, {8}, step)[0]);
    const auto batch = dropped(DepthMode::kBatch, {5, 8}, step);
    EXPECT_EQ(batch, std::vector<float>(4, batch[0]));
    EXPECT_EQ(batch[0], dropped(DepthMode::kBatch, {1}, step)[0]) << "another micro-batch";
    zeros += (batch[0] == 0) + (rows[0] == 0);
  }
  // Within five standard deviations; the seed is fixed.
  EXPECT_NEAR(zeros, 0.25 * 2 * kSteps, 5 * std::sqrt(2 * kSteps * 0.25 * 0.75));
}

TEST(Dropout, BelongsToTheSampleAlone) {
  const auto both = OnesAfter({5, 8}), second = OnesAfter({8});
  EXPECT_EQ(std::vector<float>(both.begin() + 2503, both.end()), second);
  EXPECT_NE(OnesAfter({5}), second);
  EXPECT_NE(OnesAfter({8}, 1), second);
  EXPECT_NE(OnesAfter({8}, 0, 4), second);
}

TEST(Dropout, WithoutSamplesTheRowsAreNumbered) {
  const Variable ones(Full({3, 2503}, 1));
  EXPECT_EQ(ToVector<float>(Dropout(ones, 0.25, Context({}), 3).data()), OnesAfter({0, 1, 2}));
}

TEST(Dropout, BitsDoNotDependOnThreads) {
  const int before = TeamSize();
  SetTeamSize(1);
  const auto one = OnesAfter({1, 2, 3});
  SetTeamSize(3);
  EXPECT_EQ(OnesAfter({1, 2, 3}), one);
  SetTeamSize(before);
}

// A binomial count lies within five standard deviations but once in a million; the seed is fixed.
void ExpectShareDropped(std::span<const float> values) {
  const double n = static_cast<double>(values.size());
  double zeros = 0;
  for (float v : values) {
    EXPECT_TRUE(v == 0 || v == 1 / 0.75f);
    zeros += v == 0;
  }
  EXPECT_NEAR(zeros, 0.25 * n, 5 * std::sqrt(n * 0.25 * 0.75));
}

// In all, in each sample, and in each column over the samples: neither a stream that is not random
// nor one that all samples share gets by.
TEST(Dropout, DropsTheShareEverywhereAndScalesTheRest) {
  constexpr int64_t kSamples = 400, kColumns = 2503;
  std::vector<int64_t> samples(kSamples);
  for (int64_t i = 0; i < kSamples; ++i) samples[i] = i;
  const std::vector<float> all = OnesAfter(samples);
  ExpectShareDropped(all);
  for (int64_t s = 0; s < kSamples; ++s)
    ExpectShareDropped(std::span(all).subspan(s * kColumns, kColumns));
  for (int64_t column = 0; column < 20; ++column) {
    std::vector<float> one;
    for (int64_t s = 0; s < kSamples; ++s) one.push_back(all[s * kColumns + column]);
    ExpectShareDropped(one);
  }
}

TEST(Dropout, IsTheIdentityOutsideOfTraining) {
  const Variable x(Full({2, 2}, 1));
  StepContext context = Context({0, 1});
  EXPECT_TRUE(Dropout(x, 0, context, 0) == x);
  context.training = false;
  EXPECT_TRUE(Dropout(x, 0.5, context, 0) == x);
}

TEST(Dropout, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({3, 2}));
  EXPECT_THROW(Dropout(x, 1.5, Context({0, 1, 2}), 0), BadInput);
  EXPECT_THROW(Dropout(x, NAN, Context({0, 1, 2}), 0), BadInput);
  EXPECT_EQ(testing::ErrorOf([&] {
              Dropout(x, 0.5, Context({0, 1}), 0);
            }),
            "[dropout] needs dimension 0 to be a multiple of the 2 of StepContext::samples, got "
            "(3, 2)");
  EXPECT_THROW(Dropout(Variable(Zeros({})), 0.5, Context({0}), 0), BadInput);
}

}  // namespace
}  // namespace torus::ops
