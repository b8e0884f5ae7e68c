#include "tools/labs/questions/formulas.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace torus::labs {
namespace {

TEST(Formulas, SpeedUpIsOneRanksTimeOverMany) {
  EXPECT_EQ(SpeedUp(12, 4), 3);
  EXPECT_THROW(SpeedUp(0, 4), BadInput);
  EXPECT_THROW(SpeedUp(4, 0), BadInput);
}

// Patarasuk and Yuan: n - 1 chunks of S / n each in either half.
TEST(Formulas, RingSendsTwiceAllButOneChunk) {
  EXPECT_EQ(RingBytes(1, 100), 0);
  EXPECT_EQ(RingBytes(2, 100), 100);
  EXPECT_EQ(RingBytes(4, 100), 150);
  EXPECT_EQ(RingBandwidth(4, 100, 3), 50);
  EXPECT_THROW(RingBytes(0, 100), BadInput);
  EXPECT_THROW(RingBandwidth(4, 100, 0), BadInput);
}

TEST(Formulas, SubtractionTakesAnNthOfOneRanksEpoch) {
  EXPECT_EQ(CommunicationBySubtraction(5, 16, 4), 1);
  EXPECT_EQ(CommunicationBySubtraction(3, 16, 4), -1);
}

TEST(Formulas, SharesMetGrowTowardsAll) {
  EXPECT_EQ(SharesMet(4, 0), 0);
  EXPECT_EQ(SharesMet(4, 1), 0.25);
  EXPECT_EQ(SharesMet(4, 2), 0.4375);
  EXPECT_EQ(SharesMet(1, 1), 1);
}

TEST(Formulas, StrongPointsAreThoseWhoseRunsWeakScalingHas) {
  const auto points = StrongPoints({32, 128, 512}, {1, 2, 4});
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].global_batch, 128);
  EXPECT_EQ(points[0].ranks, 4);
  EXPECT_EQ(points[0].batch, 32);
  EXPECT_EQ(points[1].global_batch, 512);
  EXPECT_EQ(points[1].batch, 128);
  EXPECT_TRUE(StrongPoints({32, 48}, {1, 2, 4}).empty());
}

TEST(Formulas, RateRisesFromTheBaseToKTimesIt) {
  const LargeBatchRate rate{.base = 0.5, .scale = 4, .warmup_steps = 3};
  EXPECT_EQ(rate.At(0), 0.5);
  EXPECT_EQ(rate.At(1), 1.0);
  EXPECT_EQ(rate.At(2), 1.5);
  EXPECT_EQ(rate.At(3), 2.0);
  EXPECT_EQ(rate.At(100), 2.0);
  EXPECT_EQ((LargeBatchRate{.base = 0.5, .scale = 4}).At(0), 2.0);
}

// By hand: v = 0.5, d = 0.5; v = 0.25 + 0.25 = 0.5, d = 0.
TEST(Formulas, DistanceShrinksByDecayAlone) {
  EXPECT_EQ(DistanceFactors(2, 1, 0.5, 0.5), (std::vector<double>{1, 0.5, 0}));
  EXPECT_EQ(DistanceFactors(2, 1, 0.5, 0), (std::vector<double>{1, 1, 1}));
}

}  // namespace
}  // namespace torus::labs
