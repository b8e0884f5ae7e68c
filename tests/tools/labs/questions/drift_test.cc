#include "tools/labs/questions/drift.h"

#include <gtest/gtest.h>

#include "tests/tools/labs/questions/small_lab.h"
#include "tools/labs/questions/formulas.h"

namespace torus::labs {
namespace {

DriftCurve Measure(const LabOptions& options, bool shares_weights, bool shares_gradients) {
  return MeasureDrift(options, {"case", shares_weights, shares_gradients}, testing::Silent);
}

TEST(Drift, IsZeroWhereWeightsAndGradientsAreShared) {
  const DriftCurve curve = Measure(testing::SmallLab(), true, true);
  EXPECT_EQ(curve.distances, (std::vector<double>{0, 0, 0, 0}));
  EXPECT_GT(curve.norm, 0);
}

// A step rounds each element of a replica four times: the decayed gradient, the scaled buffer, the
// buffer's sum and the weight. Each rounded vector is at most as long as the weights (a step moves
// them by less than that), and what is rounded in a buffer counts at most 1 / (1 - m) times in the
// steps behind it. So two replicas' difference errs by at most 2 x 4 / (1 - m) of 2^-24 of the
// weights' norm a step. Decay shrinks that norm by less than half.
TEST(Drift, OfOwnWeightsIsWhatDecayMakesOfTheFirstDistance) {
  LabOptions options = testing::SmallLab();
  options.settings.lr = 0.01;
  options.settings.weight_decay = 5;  // seen in three steps
  const double momentum = options.settings.momentum;
  const DriftCurve curve = Measure(options, false, true);
  const std::vector<double> factors = DistanceFactors(options.steps, 0.01, momentum, 5);
  ASSERT_EQ(curve.distances.size(), factors.size());
  EXPECT_GT(curve.distances[0], 0);
  EXPECT_LT(factors.back(), 0.9);
  EXPECT_GT(factors.back(), 0.5);
  for (size_t step = 0; step < factors.size(); ++step) {
    const double rounding = 8 / (1 - momentum) * 2 * curve.norm / (1 << 24);
    EXPECT_NEAR(curve.distances[step], curve.distances[0] * factors[step],
                static_cast<double>(step) * rounding)
        << "step " << step;
  }
}

TEST(Drift, GrowsWhereGradientsAreNotShared) {
  const DriftCurve curve = Measure(testing::SmallLab(), true, false);
  EXPECT_EQ(curve.distances[0], 0);
  EXPECT_GT(curve.distances[1], 0);
}

}  // namespace
}  // namespace torus::labs
