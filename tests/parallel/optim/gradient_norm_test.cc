#include "parallel/optim/gradient_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "tests/parallel/optim/parameters.h"
#include "tests/testing/tolerance.h"

namespace torus::parallel {
namespace {

std::vector<NamedVariable> SomeParameters() {
  std::vector<NamedVariable> parameters;
  for (int64_t size : {0, 1, 7, 100003, 64, 16384})
    parameters.push_back(NormalParameter(std::to_string(size), size, 1));
  for (NamedVariable& p : parameters)
    if (p.name != "64") SetNormalGradient(p, 2);
  return parameters;
}

TEST(GradientNorm, IsTheSumOfSquares) {
  const std::vector<NamedVariable> parameters = SomeParameters();
  const std::vector<double> squares = SquaredGradientNorms(parameters);
  ASSERT_EQ(squares.size(), parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    long double sum = 0;
    if (parameters[i].value.grad().defined())
      for (float g : ToVector<float>(parameters[i].value.grad()))
        sum += static_cast<long double>(g) * g;
    EXPECT_NEAR(squares[i], sum, testing::Tolerance(DType::kF64, parameters[i].value.numel(), sum));
  }
  EXPECT_EQ(squares[4], 0);  // no gradient
}

TEST(GradientNorm, SameBitsWhateverTheTeam) {
  const std::vector<NamedVariable> parameters = SomeParameters();
  const int before = TeamSize();
  SetTeamSize(1);
  const std::vector<double> alone = SquaredGradientNorms(parameters);
  for (int team : {2, 3, 7}) {
    SetTeamSize(team);
    EXPECT_EQ(SquaredGradientNorms(parameters), alone);
  }
  SetTeamSize(before);
}

// A pipeline's stages sum their own parameters: joined in model order, the norm is that of the
// whole.
TEST(GradientNorm, SameBitsWhereverTheModelIsCut) {
  const std::vector<NamedVariable> parameters = SomeParameters();
  const double whole = GlobalNorm(SquaredGradientNorms(parameters));
  for (size_t cut = 0; cut <= parameters.size(); ++cut) {
    std::vector<double> joined =
        SquaredGradientNorms({parameters.begin(), parameters.begin() + cut});
    for (double s : SquaredGradientNorms({parameters.begin() + cut, parameters.end()}))
      joined.push_back(s);
    EXPECT_EQ(GlobalNorm(joined), whole) << "cut at " << cut;
  }
}

TEST(GradientNorm, IsOfAllGradientsTogether) {
  std::vector<NamedVariable> parameters;
  for (const float value : {3.0F, 4.0F}) {
    Variable leaf(Zeros({1}), true);
    leaf.SetGrad(Full({1}, value));
    parameters.push_back({std::to_string(value), leaf});
  }
  parameters.push_back({"without", Variable(Zeros({1}), true)});
  EXPECT_EQ(GradientNorm(parameters), 5);
}

TEST(ClipScale, IsPyTorchs) {
  EXPECT_EQ(ClipScale(0.5, 1), 1);
  EXPECT_EQ(ClipScale(0, 1), 1);
  EXPECT_EQ(ClipScale(4, 1), 1 / 4.000001);
  EXPECT_EQ(ClipScale(INFINITY, 1), 0);
  EXPECT_TRUE(std::isnan(ClipScale(NAN, 1)));
  EXPECT_THROW(ClipScale(1, 0), BadInput);
}

}  // namespace
}  // namespace torus::parallel
