#include "parallel/pipeline/loss_fn.h"

#include <gtest/gtest.h>

namespace torus::parallel {
namespace {

using Outputs = LossFn::Outputs;
using Targets = LossFn::Targets;

Variable First(const Outputs& outputs, const Targets&) { return outputs.at(0); }
Variable Second(const Outputs& outputs, const Targets&, const StepContext&) {
  return outputs.at(1);
}

TEST(LossFn, IsMadeOfAFunctionWithOrWithoutContext) {
  const Outputs outputs{Variable(FromVector<double>({1}, {1})),
                        Variable(FromVector<double>({2}, {1}))};
  EXPECT_EQ(LossFn(First)(outputs, {}).data().Item(), 1);
  EXPECT_EQ(LossFn(Second)(outputs, {}).data().Item(), 2);
  EXPECT_EQ(LossFn([](const auto& all, const auto&) { return all[1]; })(outputs, {}).data().Item(),
            2);
}

// A run refuses parts without a loss by asking for it.
TEST(LossFn, MadeOfNothingIsNone) {
  EXPECT_FALSE(LossFn());
  EXPECT_FALSE(LossFn(nullptr));
  EXPECT_FALSE(LossFn(std::function<Variable(const Outputs&, const Targets&)>()));
  EXPECT_FALSE(
      LossFn(std::function<Variable(const Outputs&, const Targets&, const StepContext&)>()));
  EXPECT_FALSE(LossFn(static_cast<decltype(&First)>(nullptr)));
  EXPECT_FALSE(LossFn(static_cast<decltype(&Second)>(nullptr)));
  EXPECT_TRUE(LossFn(First));
  EXPECT_TRUE(LossFn(Second));
}

}  // namespace
}  // namespace torus::parallel
