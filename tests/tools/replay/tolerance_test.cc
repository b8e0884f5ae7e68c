#include "tools/replay/tolerance.h"

#include <gtest/gtest.h>

#include <limits>

#include "tools/replay/compare.h"

namespace torus::replay {
namespace {

constexpr double kEps = std::numeric_limits<float>::epsilon();

TEST(Tolerance, GrowsWithTheRootOfTheTermsAndTheirSize) {
  EXPECT_DOUBLE_EQ(Tolerance(DType::kF32, 3, {1, 0}), 24 * kEps);
  EXPECT_DOUBLE_EQ(Tolerance(DType::kF32, 0, {100, 2}), 80 * kEps);
  EXPECT_DOUBLE_EQ(Tolerance(DType::kF64, -1, {4, 1}), 16 * std::numeric_limits<double>::epsilon());
}

TEST(Tolerance, MeasuredNoiseIsAdded) {
  EXPECT_DOUBLE_EQ(Tolerance(DType::kF32, 3, {.terms = 1, .scale = 0, .noise = 0.5}),
                   24 * kEps + 0.5);
}

TEST(Tolerance, IntegersAreExact) { EXPECT_EQ(Tolerance(DType::kI64, 1e9, {1000, 1e9}), 0); }

TEST(Comparison, HoldsEveryElementAgainstItsOwnTolerance) {
  const Tensor want = FromVector<float>({1, 1000}, {2});
  Comparison near, far;
  near.Check("x", FromVector<float>({1 + 4e-7f, 1000}, {2}), want, {1, 1});
  far.Check("x", FromVector<float>({1 + 4e-6f, 1000}, {2}), want, {1, 1});
  EXPECT_TRUE(near.passed());
  EXPECT_FALSE(far.passed());
}

TEST(Comparison, AFloorCoversNoiseAboutZero) {
  const Tensor want = FromVector<float>({0}, {1}), got = FromVector<float>({1e-7f}, {1});
  Comparison without, with;
  without.Check("x", got, want, {1, 0});
  with.Check("x", got, want, {1, 0}, GradientFloor(DType::kF32, 1));
  EXPECT_FALSE(without.passed());
  EXPECT_TRUE(with.passed());
}

TEST(Comparison, NormAllowsFewLargeDifferences) {
  Tensor want = Full({100}, 1), got = Full({100}, 1);
  got.mutable_data<float>()[7] = 1.4f;  // of a norm of 10
  Comparison loose, tight;
  loose.CheckNorm("x", got, want, 0.5);
  tight.CheckNorm("x", got, want, 0.3);
  EXPECT_TRUE(loose.passed());
  EXPECT_FALSE(tight.passed());
}

TEST(Comparison, AMissingTensorFails) {
  Comparison result;
  result.Check("x", Tensor(), Zeros({1}), {});
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.Summary(), "x: missing");
}

}  // namespace
}  // namespace torus::replay
