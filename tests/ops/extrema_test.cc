#include "ops/elementwise/extrema.h"

#include <cmath>

#include "autograd/backward.h"
#include "ops/elementwise/power.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

Variables MaximumAll(const Variables& in) { return {Maximum(in[0], in[1])}; }
Variables MinimumAll(const Variables& in) { return {Minimum(in[0], in[1])}; }
Variables PowAll(const Variables& in) { return {Pow(in[0], in[1])}; }
Variables ClampAll(const Variables& in) { return {Clamp(in[0], in[1], in[2])}; }

GRADIENT_CASE(maximum, Broadcast) {
  Check(MaximumAll, {TransposedLeaf({3, 4}), RandomLeaf({4}, 1)});
}
GRADIENT_CASE(maximum, Scalars) { Check(MaximumAll, {RandomLeaf({}), RandomLeaf({}, 1)}); }
GRADIENT_CASE(maximum, Empty) { Check(MaximumAll, {RandomLeaf({0, 2}), RandomLeaf({2}, 1)}); }
GRADIENT_CASE(minimum, Broadcast) {
  Check(MinimumAll, {RandomLeaf({3, 1}), TransposedLeaf({3, 4}, 1)});
}
GRADIENT_CASE(clamp, Tensors) {
  Check(ClampAll, {RandomLeaf({4, 5}), UniformLeaf({5}, -1, 0, 1), UniformLeaf({4, 1}, 0, 1, 2)});
}
GRADIENT_CASE(clamp, CrossedBounds) {
  Check(ClampAll, {RandomLeaf({4, 5}), UniformLeaf({5}, -1, 1, 1), UniformLeaf({5}, -1, 1, 2)});
}
GRADIENT_CASE(clamp, OneNumber) {
  Check([](const Variables& in) { return Variables{Clamp(in[0], {}, 0.5)}; },
        {TransposedLeaf({4, 5})});
}
// Clamp with one tensor is Maximum or Minimum.
GRADIENT_CASE(maximum, ByClamp) {
  Check(
      [](const Variables& in) {
        return Variables{Clamp(in[0], in[1], {}), Clamp(in[0], {}, in[1])};
      },
      {TransposedLeaf({4, 5}), RandomLeaf({5}, 1)});
}
GRADIENT_CASE(clamp, Numbers) {
  Check([](const Variables& in) { return Variables{Clamp(in[0], -0.5, 0.5)}; },
        {RandomLeaf({4, 5})});
}
GRADIENT_CASE(pow, Broadcast) {
  Check(PowAll, {UniformLeaf({3, 1}, 0.5, 2), TransposedLeaf({3, 2}, 1)});
}
GRADIENT_CASE(pow, NegativeBase) {
  Check([](const Variables& in) { return Variables{Pow(in[0], 3.0)}; }, {UniformLeaf({4}, -2, -1)});
}
GRADIENT_CASE(pow, Roots) {
  Check(
      [](const Variables& in) {
        return Variables{Pow(in[0], 0.5), Pow(in[0], -0.5)};
      },
      {UniformLeaf({4}, 0.5, 2)});
}
GRADIENT_CASE(pow, ToTheZero) {
  Check([](const Variables& in) { return Variables{Pow(in[0], 0.0)}; }, {RandomLeaf({4})});
}
GRADIENT_CASE(pow, NumberBase) {
  Check([](const Variables& in) { return Variables{Pow(2.5, in[0])}; }, {RandomLeaf({4})});
}
GRADIENT_CASE(pow, OneInputTwice) {
  Check([](const Variables& in) { return Variables{Pow(in[0], in[0])}; },
        {UniformLeaf({3}, 0.5, 2)});
}

Variable Doubles(const std::vector<double>& values) {
  return Variable(FromVector(values, {static_cast<int64_t>(values.size())}), true);
}

// PyTorch's choices where there is no derivative.
TEST(Extrema, GradientsWherePyTorchChooses) {
  const Variable a = Doubles({1, 2}), b = Doubles({1, 1});
  Backward({Maximum(a, b)}, {Full({2}, 1, DType::kF64)});
  EXPECT_EQ(ToVector<double>(a.grad()), (std::vector<double>{0.5, 1}));
  EXPECT_EQ(ToVector<double>(b.grad()), (std::vector<double>{0.5, 0}));
  const Variable base = Doubles({0, 0, 2}), exponent = Doubles({0, 2, 0});
  Backward({Pow(base, exponent)}, {Full({3}, 1, DType::kF64)});
  EXPECT_EQ(ToVector<double>(base.grad()), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(ToVector<double>(exponent.grad()), (std::vector<double>{0, 0, std::log(2.0)}));
}

TEST(Clamp, HasNoGradientAtANumber) {
  const Variable x = Doubles({0, 0.5, 1, 2, NAN});
  const Tensor ones = Full({5}, 1, DType::kF64);
  Backward({Clamp(x, 0.0, 1.0), Clamp(x, 0.5, {}), Clamp(x, {}, 1.0)}, {ones, ones, ones});
  EXPECT_EQ(ToVector<double>(x.grad()), (std::vector<double>{1, 2, 1, 1, 0}));
}

// At both bounds, at the lower, at the upper, inside, and where the bounds cross.
TEST(Clamp, SharesWithTheTensorThatItMeets) {
  const Variable x = Doubles({1, 1, 2, 1, 3, 0}), low = Doubles({1, 1, 1, 0, 3, 2}),
                 high = Doubles({1, 2, 2, 2, 2, 1});
  Backward({Clamp(x, low, high)}, {Full({6}, 1, DType::kF64)});
  EXPECT_EQ(ToVector<double>(x.grad()), (std::vector<double>{1, 0.5, 0.5, 1, 0, 0}));
  EXPECT_EQ(ToVector<double>(low.grad()), (std::vector<double>{0, 0.5, 0, 0, 0, 0}));
  EXPECT_EQ(ToVector<double>(high.grad()), (std::vector<double>{0, 0, 0.5, 0, 1, 1}));
}

TEST(Clamp, SharesWithTheOnlyTensor) {
  Variable x = Doubles({-INFINITY, 1, 2}), bound = Doubles({1, 1, 1});
  Backward({Clamp(x, bound, {})}, {Full({3}, 1, DType::kF64)});
  EXPECT_EQ(ToVector<double>(x.grad()), (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(ToVector<double>(bound.grad()), (std::vector<double>{1, 0.5, 0}));
  x.ZeroGrad(), bound.ZeroGrad();
  Backward({Clamp(x, {}, bound)}, {Full({3}, 1, DType::kF64)});
  EXPECT_EQ(ToVector<double>(x.grad()), (std::vector<double>{1, 0.5, 0}));
}

// PyTorch's sqrt and rsqrt for numbers; its power for tensors.
TEST(Pow, HalvesAreRoots) {
  const Variable x = Doubles({-INFINITY, -0.0, 0, 4});
  const Variable root = Pow(x, 0.5);
  Backward({root}, {Full({4}, 1, DType::kF64)});
  const std::vector<double> y = ToVector<double>(root.data()), g = ToVector<double>(x.grad());
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(g[0]));
  EXPECT_TRUE(y[1] == 0 && std::signbit(y[1]) && !std::signbit(y[2]));
  EXPECT_EQ(y[3], 2);
  EXPECT_EQ(std::vector<double>(g.begin() + 1, g.end()),
            (std::vector<double>{-INFINITY, INFINITY, 0.25}));
  EXPECT_EQ(ToVector<double>(Pow(x, -0.5).data())[1], -INFINITY);
  EXPECT_EQ(ToVector<double>(Pow(x, Doubles({0.5})).data())[0], INFINITY);
}

TEST(Extrema, NotANumberWins) {
  for (const auto& out :
       {Maximum(Doubles({NAN, 1}), Doubles({1, NAN})),
        Minimum(Doubles({NAN, 1}), Doubles({1, NAN})), Clamp(Doubles({NAN, NAN}), 0.0, 1.0)})
    for (double v : ToVector<double>(out.data())) EXPECT_TRUE(std::isnan(v));
}

TEST(Extrema, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({2}));
  EXPECT_THROW(Maximum(x, Variable(Zeros({3}))), BadInput);
  EXPECT_THROW(Minimum(x, Variable(Zeros({2}, DType::kF64))), BadInput);
  EXPECT_THROW(Clamp(x, Variable(), Variable()), BadInput);
  EXPECT_THROW(Pow(Variable(Zeros({2}, DType::kI64)), 2.0), BadInput);
}

}  // namespace
}  // namespace torus::ops
