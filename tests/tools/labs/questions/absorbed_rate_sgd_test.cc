#include "tools/labs/questions/absorbed_rate_sgd.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace torus::labs {
namespace {

constexpr double kMomentum = 0.5;

Variable Weight() { return Variable(Full({1}, 1, DType::kF64), true); }

// One step with gradient 1.
void Step(parallel::Optimizer& sgd, Variable& weight, double rate) {
  weight.SetGrad(Full({1}, 1, DType::kF64));
  sgd.Step(rate);
}

// All factors are powers of two, so that the figures are exact.
TEST(AbsorbedRateSgd, IsEquation10WhileTheRateChanges) {
  Variable weight = Weight();
  AbsorbedRateSgd sgd({{"w", weight}}, {.momentum = kMomentum});
  double w = 1, u = 0;
  for (const double rate : {0.125, 0.25, 0.5, 0.5, 0.0625}) {
    Step(sgd, weight, rate);
    u = kMomentum * u + rate;
    w -= u;
    EXPECT_EQ(weight.data().Item(), w) << "rate " << rate;
  }
}

TEST(AbsorbedRateSgd, DiffersFromTheCorrectedFormOnlyOnceTheRateHasChanged) {
  Variable own = Weight(), corrected = Weight();
  AbsorbedRateSgd sgd({{"w", own}}, {.momentum = kMomentum});
  parallel::Sgd other({{"w", corrected}}, {.momentum = kMomentum});
  for (int step = 0; step < 3; ++step) {
    Step(sgd, own, 0.125);
    Step(other, corrected, 0.125);
    EXPECT_EQ(own.data().Item(), corrected.data().Item());
  }
  Step(sgd, own, 0.25);
  Step(other, corrected, 0.25);
  EXPECT_GT(own.data().Item(), corrected.data().Item());
}

TEST(AbsorbedRateSgd, RefusesARateOfZero) {
  Variable weight = Weight();
  AbsorbedRateSgd sgd({{"w", weight}}, {.momentum = kMomentum});
  EXPECT_THROW(sgd.Step(0), BadInput);
}

}  // namespace
}  // namespace torus::labs
