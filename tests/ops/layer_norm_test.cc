#include "ops/layer_norm/layer_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "autograd/backward.h"
#include "autograd/precision.h"
#include "ops/layer_norm/group_norm.h"
#include "ops/layer_norm/rms_norm.h"
#include "runtime/parallel_for.h"
#include "tests/testing/tolerance.h"
#include "tests/testing/twins.h"

namespace torus::ops {
namespace {

using testing::RandomLeaf;
using testing::TransposedLeaf;
using Variables = std::vector<Variable>;

testing::CheckedFunction Normalized(const Shape& shape, double eps = 1e-5) {
  return [=](const Variables& in) {
    return Variables{LayerNorm(in[0], shape, in.size() > 1 ? in[1] : Variable(),
                               in.size() > 2 ? in[2] : Variable(), eps)};
  };
}

GRADIENT_CASE(layer_norm, Rows) {
  Check(Normalized({7}), {RandomLeaf({3, 7}), RandomLeaf({7}, 1), RandomLeaf({7}, 2)});
}
GRADIENT_CASE(layer_norm, SeveralDimensions) {
  Check(Normalized({3, 4}, 0.5),
        {TransposedLeaf({2, 3, 4}), RandomLeaf({3, 4}, 1), RandomLeaf({3, 4}, 2)});
}
GRADIENT_CASE(layer_norm, NoParameters) { Check(Normalized({5}), {RandomLeaf({2, 2, 5})}); }
GRADIENT_CASE(layer_norm, WeightAlone) {
  Check(Normalized({5}), {RandomLeaf({2, 5}), RandomLeaf({5}, 1)});
}
GRADIENT_CASE(layer_norm, MoreRowsThanAPart) {
  Check(Normalized({3}, 0.5), {RandomLeaf({131, 3}), RandomLeaf({3}, 1), RandomLeaf({3}, 2)});
}
GRADIENT_CASE(layer_norm, EmptyBatch) {
  Check(Normalized({4}), {RandomLeaf({0, 4}), RandomLeaf({4}, 1), RandomLeaf({4}, 2)});
}
GRADIENT_CASE(layer_norm, EmptyRows) { Check(Normalized({0}), {RandomLeaf({3, 0})}); }

testing::CheckedFunction RmsNormalized(const Shape& shape, std::optional<double> eps = {}) {
  return [=](const Variables& in) {
    return Variables{RmsNorm(in[0], shape, in.size() > 1 ? in[1] : Variable(), eps)};
  };
}

GRADIENT_CASE(rms_norm, Rows) {
  Check(RmsNormalized({7}), {RandomLeaf({3, 7}), RandomLeaf({7}, 1)});
}
GRADIENT_CASE(rms_norm, SeveralDimensions) {
  Check(RmsNormalized({3, 4}, 0.5), {TransposedLeaf({2, 3, 4}), RandomLeaf({3, 4}, 1)});
}
GRADIENT_CASE(rms_norm, NoWeight) { Check(RmsNormalized({5}), {RandomLeaf({2, 2, 5})}); }
GRADIENT_CASE(rms_norm, MoreRowsThanAPart) {
  Check(RmsNormalized({3}, 0.5), {RandomLeaf({131, 3}), RandomLeaf({3}, 1)});
}
GRADIENT_CASE(rms_norm, EmptyBatch) {
  Check(RmsNormalized({4}), {RandomLeaf({0, 4}), RandomLeaf({4}, 1)});
}
GRADIENT_CASE(rms_norm, EmptyRows) { Check(RmsNormalized({0}), {RandomLeaf({3, 0})}); }

testing::CheckedFunction Grouped(int64_t groups, double eps = 0.1) {
  return [=](const Variables& in) {
    return Variables{GroupNorm(in[0], groups, in.size() > 1 ? in[1] : Variable(),
                               in.size() > 2 ? in[2] : Variable(), eps)};
  };
}

GRADIENT_CASE(layer_norm, GroupNorm) {
  Check(Grouped(2), {TransposedLeaf({2, 3, 4}), RandomLeaf({4}, 1), RandomLeaf({4}, 2)});
  Check(Grouped(3), {RandomLeaf({2, 6})});
}
GRADIENT_CASE(layer_norm, GroupNormOfNothing) {
  Check(Grouped(2), {RandomLeaf({0, 3, 4}), RandomLeaf({4}, 1), RandomLeaf({4}, 2)});
}
GRADIENT_CASE(layer_norm, InstanceNorm) {
  Check([](const Variables& in) { return Variables{InstanceNorm(in[0], in[1], in[2], 0.1)}; },
        {RandomLeaf({2, 3, 2, 4}), RandomLeaf({4}, 1), RandomLeaf({4}, 2)});
}

// Means 2 and 6 of the groups, which 1 and 2 are off by; a channel by itself has 1 and 3 or 5.
TEST(GroupNorm, NormalizesGroupsOfASample) {
  const Variable x(FromVector<double>({1, 1, 5, 4, 3, 3, 7, 8}, {1, 2, 4}));
  EXPECT_EQ(ToVector<double>(GroupNorm(x, 2, {}, {}, 0).data())[0], -1);
  EXPECT_DOUBLE_EQ(ToVector<double>(GroupNorm(x, 2, {}, {}, 0).data())[3], -2 / std::sqrt(2.5));
  EXPECT_EQ(ToVector<double>(InstanceNorm(x, {}, {}, 0).data()),
            (std::vector<double>{-1, -1, -1, -1, 1, 1, 1, 1}));
  const InstanceStatistics of = StatisticsOfInstances(x);
  EXPECT_EQ(of.count, 2);
  EXPECT_EQ(ToVector<double>(of.mean), (std::vector<double>{2, 2, 6, 6}));
  EXPECT_EQ(ToVector<double>(of.var), (std::vector<double>{1, 1, 1, 4}));
}

// A layer norm's result is bf16; times an f32 weight it is f32. So what the weight scales has been
// rounded once, behind f32 sums over a group's 6 values.
TEST(GroupNorm, TakesParametersOfAnotherTypeInMixedPrecision) {
  const Tensor values = RandomLeaf({2, 3, 4}).data().To(DType::kBF16);
  const Variable x(values, true), weight(Full({4}, 2), true), bias(Full({4}, 1), true);
  const Variable exact = GroupNorm(Variable(values.To(DType::kF32)), 2, weight, bias);
  const WithPrecision low(DType::kBF16);
  const Variable y = GroupNorm(x, 2, weight, bias);
  EXPECT_EQ(y.dtype(), DType::kF32);
  for (int64_t i = 0; i < y.numel(); ++i) {
    const double want = exact.data().data<float>()[i];
    EXPECT_NEAR(y.data().data<float>()[i], want,
                testing::ToleranceRoundedOnce(DType::kBF16, 6, 1 + std::abs(want), want - 1));
  }
  EXPECT_EQ(GroupNorm(x, 2).dtype(), DType::kBF16);
  EXPECT_EQ(InstanceNorm(x, weight).dtype(), DType::kF32);
  Backward({y}, {Full(y.shape(), 1)});
  EXPECT_EQ(x.grad().dtype(), DType::kBF16);
  EXPECT_EQ(weight.grad().dtype(), DType::kF32);
}

TEST(GroupNorm, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({2, 3, 4})), one(Zeros({1, 1, 4}));
  EXPECT_THROW(GroupNorm(x, 3), BadInput);
  EXPECT_THROW(GroupNorm(x, 0), BadInput);
  EXPECT_THROW(GroupNorm(Variable(Zeros({4})), 2), BadInput);
  EXPECT_THROW(GroupNorm(one, 4), BadInput);
  EXPECT_THROW(GroupNorm(x, 2, Variable(Zeros({2}))), BadInput);
  EXPECT_THROW(InstanceNorm(one), BadInput);
  EXPECT_THROW(InstanceNorm(Variable(Zeros({2, 4}))), BadInput);
}

// The sizes of what RMS norm subtracts in a gradient, whose roundings it keeps where the difference
// is small. With r = (mean x^2 + eps)^(-1/2), h = x r and g = dy weight,
//
//   y = h weight,   dx = r g - r h mean(g h),   dweight = sum dy h
//
// Squares do not cancel, so r and h have relative errors, and so has y. |h| has the quadratic mean
// 1 at most, so |mean(g h)| and the partial sums of its terms are at most max |g|; of dweight's
// they are max |dy h| times the square root of the rows, since signs are random.
double RmsNormMagnitude(const Tensor& x, int64_t n, double eps) {
  constexpr double kLargestDy = 5, kLargestWeight = 2;  // of 10^6 normal values one is larger
  const auto values = ToVector<float>(x);
  double largest_r = 0, largest_h = 0;
  for (auto row = values.begin(); n > 0 && row != values.end(); row += n) {
    const double squares = std::inner_product(row, row + n, row, 0.0);
    const double r = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
    largest_r = std::max(largest_r, r);
    for (int64_t i = 0; i < n; ++i) largest_h = std::max(largest_h, r * std::fabs(row[i]));
  }
  return std::max(largest_r * kLargestWeight * kLargestDy * (1 + largest_h),
                  kLargestDy * largest_h * std::sqrt(static_cast<double>(x.dim(0))));
}

TEST(RmsNorm, F32AgreesWithF64OnOddShapes) {
  testing::CheckTwins([](testing::OddShapes& shapes) {
    const Shape normalized = shapes.Coin() ? Shape{shapes.Size(133, 2)} : shapes.Dims(2, 9);
    Shape shape{shapes.Size(150)};
    for (int64_t size : normalized) shape.push_back(size);
    const double eps = shapes.Coin() ? 1e-5 : 0.1;
    const int64_t n = Numel(normalized);
    const Tensor x = shapes.Normal(shape);
    return testing::Twin{.function = RmsNormalized(normalized, eps),
                         .inputs = {x, shapes.Uniform(normalized, 0.5, 2)},
                         .terms = n,
                         .gradient_terms = std::max(n, shape[0]),
                         .magnitude = RmsNormMagnitude(x, n, eps)};
  });
}

// Of equal values, the mean of their squares is the square of one: x / sqrt(x^2 + eps).
TEST(RmsNorm, DividesByTheRootMeanSquare) {
  const Variable x(FromVector<double>({1, 7, 2, 2}, {2, 2})),
      weight(FromVector<double>({1, 3}, {2}));
  const std::vector<double> y = ToVector<double>(RmsNorm(x, {2}, weight, 0).data());
  EXPECT_DOUBLE_EQ(y[0], 0.2);
  EXPECT_DOUBLE_EQ(y[1], 4.2);
  EXPECT_DOUBLE_EQ(y[3], 3.0);
  const Variable tiny(FromVector<float>({1e-3f}, {1}));
  const float epsilon = std::numeric_limits<float>::epsilon();
  EXPECT_FLOAT_EQ(ToVector<float>(RmsNorm(tiny, {1}).data())[0],
                  1e-3f / std::sqrt(1e-6f + epsilon));
}

TEST(RmsNorm, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({2, 3}));
  EXPECT_THROW(RmsNorm(x, {2}), BadInput);
  EXPECT_THROW(RmsNorm(x, {}), BadInput);
  EXPECT_THROW(RmsNorm(x, {3}, Variable(Zeros({2}))), BadInput);
  EXPECT_THROW(RmsNorm(Variable(Zeros({3}, DType::kI64)), {3}), BadInput);
}

TEST(LayerNorm, F32AgreesWithF64OnOddShapes) {
  testing::CheckTwins([](testing::OddShapes& shapes) {
    const Shape normalized = shapes.Coin() ? Shape{shapes.Size(133, 2)} : shapes.Dims(2, 9);
    Shape shape{shapes.Size(150)};
    for (int64_t size : normalized) shape.push_back(size);
    const double eps = shapes.Coin() ? 1e-5 : 0.1;
    const int64_t n = Numel(normalized);
    // A row of which all values nearly agree magnifies its rounding by rstd, at most 1 / sqrt(eps);
    // normal values of two columns come that near once in some hundred rows.
    const double magnified = n < 8 ? 1 / std::sqrt(eps) : 4;
    return testing::Twin{.function =
                             [=](const Variables& in) {
                               return Variables{LayerNorm(in[0], normalized, in[1], in[2], eps)};
                             },
                         .inputs = {shapes.Normal(shape), shapes.Uniform(normalized, 0.5, 2),
                                    shapes.Normal(normalized)},
                         .terms = n,
                         .gradient_terms = std::max(n, shape[0]),
                         .magnitude = magnified * magnified};
  });
}

TEST(LayerNorm, SameBitsWhateverTheTeam) {
  Variable x = Variable(RandomLeaf({300, 65}).data().To(DType::kF32), true);
  Variable w = Variable(RandomLeaf({65}, 1).data().To(DType::kF32), true);
  const Tensor seed = RandomLeaf({300, 65}, 2).data().To(DType::kF32);
  const auto run = [&](int threads) {
    SetTeamSize(threads);
    x.ZeroGrad(), w.ZeroGrad();
    const Variable y = LayerNorm(x, {65}, w);
    Backward({y}, {seed});
    std::vector<float> all = ToVector<float>(y.data());
    for (const Variable& v : {x, w})
      for (float value : ToVector<float>(v.grad())) all.push_back(value);
    return all;
  };
  const int team = TeamSize();
  const std::vector<float> alone = run(1);
  for (int threads : {2, 3, 5}) EXPECT_EQ(run(threads), alone) << threads << " threads";
  SetTeamSize(team);
}

TEST(LayerNorm, GivesKnownValues) {
  const Variable x(FromVector<float>({1, 3, 5, 5}, {2, 2}));
  EXPECT_EQ(ToVector<float>(LayerNorm(x, {2}, {}, {}, 0).data())[1], 1.0f);
  EXPECT_EQ(ToVector<float>(LayerNorm(x, {2}, {}, {}, 1).data())[2], 0.0f);
}

TEST(LayerNorm, NegativeEpsBeyondTheVarianceGivesNotANumber) {
  const Variable x(FromVector<float>({1, 1}, {1, 2}));
  EXPECT_TRUE(std::isnan(ToVector<float>(LayerNorm(x, {2}, {}, {}, -0.5).data())[0]));
}

TEST(LayerNorm, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({2, 3}));
  EXPECT_THROW(LayerNorm(x, {2}), BadInput);
  EXPECT_THROW(LayerNorm(x, {}), BadInput);
  EXPECT_THROW(LayerNorm(x, {1, 2, 3}), BadInput);
  EXPECT_THROW(LayerNorm(x, {3}, Variable(Zeros({2}))), BadInput);
  EXPECT_THROW(LayerNorm(x, {3}, {}, Variable(Zeros({3}, DType::kF64))), BadInput);
  EXPECT_THROW(LayerNorm(Variable(Zeros({3}, DType::kI64)), {3}), BadInput);
}

}  // namespace
}  // namespace torus::ops
