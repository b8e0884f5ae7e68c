#include "models/nn/rms_norm.h"

#include <gtest/gtest.h>

#include "ops/layer_norm/rms_norm.h"
#include "runtime/rng.h"
#include "tests/testing/same_bits.h"

namespace torus::nn {
namespace {

Tensor Rows() {
  Tensor x = Empty({3, 2, 5});
  FillNormal(x, 0, 1, RandomStream({.seed = 3}));
  return x;
}

TEST(RmsNorm, ScalesByAWeightThatStartsAsOnes) {
  RmsNorm norm({.width = 5, .eps = 0.5});
  norm.Initialize(0);
  ASSERT_EQ(norm.Parameters().size(), 1u);
  EXPECT_EQ(norm.Parameters()[0].name, "weight");
  EXPECT_EQ(ToVector<float>(norm.weight().data()), std::vector<float>(5, 1));
  const Variable x(Rows());
  testing::ExpectSameBits(norm.Forward(x, {}).data(), ops::RmsNorm(x, {5}, {}, 0.5).data());
}

TEST(RmsNorm, HasNoWeightUnlessAsked) {
  RmsNorm norm({.width = 5, .elementwise_affine = false});
  EXPECT_TRUE(norm.Parameters().empty());
  const Variable x(Rows());
  testing::ExpectSameBits(norm.Forward(x, {}).data(), ops::RmsNorm(x, {5}).data());
}

TEST(RmsNorm, RefusesNoFeatures) { EXPECT_THROW(RmsNorm({.width = 0}), BadInput); }

}  // namespace
}  // namespace torus::nn
