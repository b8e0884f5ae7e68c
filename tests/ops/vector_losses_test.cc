// Losses of vectors, probabilities and sequences of labels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "autograd/backward.h"
#include "autograd/precision.h"
#include "ops/loss/ctc_loss.h"
#include "ops/loss/distance.h"
#include "ops/loss/margin_losses.h"
#include "ops/loss/probability_losses.h"
#include "ops/softmax/softmax.h"
#include "tests/ops/op_test.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

using testing::Tolerance;
using testing::UnitRoundoff;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Variable Doubles(const std::vector<double>& values, const Shape& shape) {
  return Variable(FromVector(values, shape));
}

// Signs as labels are given.
Tensor Labels() { return FromVector<double>({1, -1, -1, 1}, {4}); }

GRADIENT_CASE(binary_cross_entropy, Weighted) {
  const Tensor weight = FromVector<double>({0.5, 2, 1}, {3});
  Check(
      [weight](const Variables& in) {
        return Variables{BinaryCrossEntropy(in[0], in[1], weight.To(in[0].data().device()),
                                            LossReduction::kNone)};
      },
      {UniformLeaf({2, 3}, 0.1, 0.9), UniformLeaf({2, 3}, 0, 1, 1)});
}
GRADIENT_CASE(binary_cross_entropy, Empty) {
  Check(
      [](const Variables& in) {
        return Variables{BinaryCrossEntropy(in[0], in[1], {}, LossReduction::kSum)};
      },
      {UniformLeaf({0, 3}, 0.1, 0.9), UniformLeaf({0, 3}, 0, 1, 1)});
}
GRADIENT_CASE(log, KlDiv) {
  Check([](const Variables& in) { return Variables{KlDiv(in[0], in[1], KlReduction::kBatchMean)}; },
        {TransposedLeaf({2, 3}), UniformLeaf({2, 3}, 0.1, 1, 1)});
}
GRADIENT_CASE(exp, KlDivOfLogarithms) {
  Check(
      [](const Variables& in) { return Variables{KlDiv(in[0], in[1], KlReduction::kMean, true)}; },
      {RandomLeaf({2, 3}), RandomLeaf({2, 3}, 1)});
}
GRADIENT_CASE(log, GaussianNllLoss) {
  for (const int64_t variances : {3, 1})
    Check(
        [](const Variables& in) {
          return Variables{GaussianNllLoss(in[0], in[1], in[2], {.full = true})};
        },
        {RandomLeaf({2, 3}), RandomLeaf({2, 3}, 1), UniformLeaf({2, variances}, 0.5, 2, 2)});
}
GRADIENT_CASE(clamp, MarginRankingLoss) {
  const Tensor target = FromVector<double>({1, -1, 1, 1, -1, -1}, {2, 3});
  Check(
      [target](const Variables& in) {
        return Variables{MarginRankingLoss(in[0], in[1], Beside(in[0], target), 0.3)};
      },
      {RandomLeaf({2, 3}), RandomLeaf({2, 3}, 1)});
}
GRADIENT_CASE(where, HingeEmbeddingLoss) {
  const Tensor target = Labels();
  Check(
      [target](const Variables& in) {
        return Variables{HingeEmbeddingLoss(in[0], Beside(in[0], target), 1.3)};
      },
      {RandomLeaf({4})});
}
GRADIENT_CASE(sqrt, CosineEmbeddingLoss) {
  const Tensor target = Labels();
  Check(
      [target](const Variables& in) {
        return Variables{CosineEmbeddingLoss(in[0], in[1], Beside(in[0], target), -0.9)};
      },
      {RandomLeaf({4, 3}), RandomLeaf({4, 3}, 1)});
}
GRADIENT_CASE(norm, CosineSimilarity) {
  Check([](const Variables& in) { return Variables{CosineSimilarity(in[0], in[1], 0)}; },
        {TransposedLeaf({3, 4}), RandomLeaf({2, 3, 4}, 1)});
}
GRADIENT_CASE(norm, PairwiseDistance) {
  Check(
      [](const Variables& in) {
        return Variables{PairwiseDistance(in[0], in[1], 3), PairwiseDistance(in[0], in[1], 1.5)};
      },
      {RandomLeaf({4, 3}), RandomLeaf({3}, 1)});
}
GRADIENT_CASE(minimum, TripletMarginLoss) {
  for (const double p : {1.0, 2.0, kInfinity})
    Check(
        [p](const Variables& in) {
          return Variables{TripletMarginLoss(in[0], in[1], in[2], {.p = p, .swap = true})};
        },
        {RandomLeaf({4, 3}), RandomLeaf({4, 3}, 1), RandomLeaf({4, 3}, 2)});
}

testing::CheckedFunction CtcOf(const Tensor& targets, const Tensor& inputs, const Tensor& lengths,
                               const CtcLossOptions& options = {}) {
  return [=](const Variables& in) {
    return Variables{CtcLoss(LogSoftmax(in[0], -1), targets, inputs, lengths, options)};
  };
}

Tensor Integers(const std::vector<int64_t>& values, const Shape& shape) {
  return FromVector(values, shape);
}

// Neighbours that are equal and others, an empty target, and frames behind the end.
GRADIENT_CASE(ctc_loss, Padded) {
  Check(CtcOf(Integers({1, 1, 2, 3, -7, 2, 9, 9, 9}, {3, 3}), Integers({6, 5, 4}, {3}),
              Integers({3, 1, 0}, {3})),
        {RandomLeaf({6, 3, 4})});
}
GRADIENT_CASE(ctc_loss, ConcatenatedWithAnotherBlank) {
  Check(CtcOf(Integers({1, 0, 2, 0, 0}, {5}), Integers({5, 6}, {2}), Integers({2, 3}, {2}),
              {.blank = 3, .reduction = LossReduction::kNone}),
        {TransposedLeaf({6, 2, 4})});
}
GRADIENT_CASE(ctc_loss, OneSequence) {
  Check(CtcOf(Integers({2, 1}, {2}), Integers({4}, {}), Integers({2}, {}),
              {.reduction = LossReduction::kSum}),
        {RandomLeaf({4, 3})});
}
GRADIENT_CASE(ctc_loss, InfinityAsZero) {
  Check(CtcOf(Integers({1, 1, 2, 1}, {2, 2}), Integers({2, 2}, {2}), Integers({2, 2}, {2}),
              {.zero_infinity = true}),
        {RandomLeaf({2, 2, 3})});
}

// All paths of 3 frames by hand: b is the blank, the target is "a": a--, -a-, --a, aa-, -aa, aaa.
TEST(CtcLoss, SumsOverAllPaths) {
  const double a[] = {0.2, 0.5, 0.9};
  const double b[] = {0.8, 0.5, 0.1};
  std::vector<double> logs;
  for (int t = 0; t < 3; ++t) logs.push_back(std::log(b[t])), logs.push_back(std::log(a[t]));
  const double paths = a[0] * b[1] * b[2] + b[0] * a[1] * b[2] + b[0] * b[1] * a[2] +
                       a[0] * a[1] * b[2] + b[0] * a[1] * a[2] + a[0] * a[1] * a[2];
  const Variable loss = CtcLoss(Doubles(logs, {3, 2}), Integers({1}, {1}), Integers({3}, {1}),
                                Integers({1}, {1}), {.reduction = LossReduction::kNone});
  EXPECT_EQ(loss.shape(), Shape());
  // A path's logarithm is a sum of three, the least of them log 0.2 + log 0.5 + log 0.1.
  EXPECT_NEAR(loss.data().Item(), -std::log(paths), Tolerance(DType::kF64, 3, -std::log(0.01)));
}

TEST(CtcLoss, IsInfiniteWhereNoPathHasTheTarget) {
  const auto loss = [](const std::vector<int64_t>& labels, int64_t frames, bool zero) {
    return CtcLoss(Variable(Full({3, 1, 3}, std::log(1.0 / 3), DType::kF64)),
                   Integers(labels, {1, static_cast<int64_t>(labels.size())}),
                   Integers({frames}, {1}), Integers({static_cast<int64_t>(labels.size())}, {1}),
                   {.reduction = LossReduction::kSum, .zero_infinity = zero})
        .data()
        .Item();
  };
  EXPECT_EQ(loss({1, 1}, 2, false), kInfinity);
  EXPECT_EQ(loss({1, 1}, 2, true), 0);
  const auto expect_frames = [](double got, int frames) {
    const double wanted = frames * std::log(3);
    EXPECT_NEAR(got, wanted, Tolerance(DType::kF64, frames, wanted));
  };
  expect_frames(loss({1, 1}, 3, false), 3);
  expect_frames(loss({1, 2}, 2, false), 2);
  EXPECT_EQ(loss({1}, 0, false), kInfinity);
  EXPECT_EQ(loss({}, 0, false), 0);
}

// The most that a frame adds to a loss: no logarithm of softmax is further from 0.
double MostOfAFrame(const Tensor& logits) {
  const auto values = ToVector<float>(logits);
  if (values.empty()) return 0;
  const auto [least, most] = std::ranges::minmax(values);
  return most - least + std::log(static_cast<double>(logits.dim(-1)));
}

// An element of a gradient is exp of a sum over frames, each of which rounds it on the scale of the
// whole loss.
TEST(CtcLoss, F32AgreesWithF64OnOddShapes) {
  testing::CheckTwins([](testing::OddShapes& shapes) {
    const int64_t frames = shapes.Size(21), n = shapes.Size(3), classes = shapes.Size(8, 2);
    const int64_t most = shapes.Size(5);
    const Tensor lengths = shapes.Indices({n}, most + 1), inputs = shapes.Indices({n}, frames + 1);
    const Tensor targets = shapes.Indices({n, most}, classes - 1);
    const Tensor logits = shapes.Normal({frames, n, classes});
    return testing::Twin{
        .function =
            [=](const Variables& in) {
              return Variables{CtcLoss(LogSoftmax(in[0], -1), targets, inputs, lengths,
                                       {.blank = classes - 1, .zero_infinity = true})};
            },
        .inputs = {logits},
        .terms = frames,
        .gradient_terms = frames,
        .magnitude = MostOfAFrame(logits) * static_cast<double>(frames)};
  });
}

TEST(CtcLoss, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({4, 2, 3}));
  const Tensor targets = Integers({1, 2, 1, 2}, {2, 2}), two = Integers({2, 2}, {2});
  EXPECT_NO_THROW(CtcLoss(x, targets, two, two));
  EXPECT_THROW(CtcLoss(x, targets, Integers({2, 5}, {2}), two), BadInput);
  EXPECT_THROW(CtcLoss(x, targets, two, Integers({3, 1}, {2})), BadInput);
  EXPECT_THROW(CtcLoss(x, targets, two, Integers({-1, 1}, {2})), BadInput);
  EXPECT_THROW(CtcLoss(x, targets, Integers({2}, {1}), two), BadInput);
  EXPECT_THROW(CtcLoss(x, Integers({1, 2, 3, 1}, {2, 2}), two, two), BadInput);
  EXPECT_THROW(CtcLoss(x, Integers({1, 2, 1, 2, 2}, {5}), two, two), BadInput);
  EXPECT_THROW(CtcLoss(x, targets, two, two, {.blank = 3}), BadInput);
  EXPECT_THROW(CtcLoss(x, targets.To(DType::kF32), two, two), BadInput);
}

TEST(KlDiv, GivesKnownValues) {
  const Variable input = Doubles({-1, -2, -3, -4}, {2, 2}), target = Doubles({1, 0, 0, 1}, {2, 2});
  EXPECT_EQ(Values<double>(KlDiv(input, target, KlReduction::kNone)),
            (std::vector<double>{1, 0, 0, 4}));
  EXPECT_EQ(KlDiv(input, target, KlReduction::kBatchMean).data().Item(), 2.5);
  EXPECT_EQ(KlDiv(input, target).data().Item(), 1.25);
  const Variable half = Doubles({std::log(0.5)}, {1});
  EXPECT_NEAR(KlDiv(Doubles({-3}, {1}), half, KlReduction::kSum, true).data().Item(),
              0.5 * (std::log(0.5) + 3), Tolerance(DType::kF64, 2, 0.5 * 3));
  EXPECT_THROW(ParseKlReduction("median"), BadInput);
}

// Logarithms are limited, and that of 1 - x is of x where 1 - x rounds to 1.
TEST(BinaryCrossEntropy, AtTheEdges) {
  const LossReduction none = LossReduction::kNone;
  const Variable x(FromVector<float>({0, 1, 1e-10f, 1}, {4})),
      target(FromVector<float>({0.5f, 0, 0, 1}, {4}));
  EXPECT_EQ(ToVector<float>(BinaryCrossEntropy(x, target, {}, none).data()),
            (std::vector<float>{50, 100, 1e-10f, 0}));
  EXPECT_TRUE(std::isnan(BinaryCrossEntropy(Doubles({1.5}, {1}), Doubles({0}, {1})).data().Item()));
}

TEST(Distances, OfKnownVectors) {
  const Variable x = Doubles({3, -4, 0, 0}, {2, 2}), origin = Doubles({0, 0}, {2});
  const auto distance = [&](double p) { return Values<double>(PairwiseDistance(x, origin, p, 0)); };
  EXPECT_EQ(distance(2), (std::vector<double>{5, 0}));
  EXPECT_EQ(distance(1), (std::vector<double>{7, 0}));
  EXPECT_EQ(distance(0), (std::vector<double>{2, 0}));
  EXPECT_EQ(distance(kInfinity), (std::vector<double>{4, 0}));
  EXPECT_EQ(Values<double>(CosineSimilarity(x, Doubles({6, -8}, {2}))),
            (std::vector<double>{1, 0}));
  EXPECT_EQ(Values<double>(NormOfRows(x, 2, true)), (std::vector<double>{5, 0}));
  EXPECT_THROW(NormOfRows(x, -1), BadInput);
  EXPECT_THROW(NormOfRows(Doubles({1}, {})), BadInput);
}

// As in PyTorch, which a limit under the gradient of a distance would turn to NaN.
TEST(Distances, OfEqualVectorsHaveNoGradient) {
  for (const double p : {1.0, 2.0, 3.0, kInfinity}) {
    Variable x(FromVector<float>({1, 2}, {1, 2}), true);
    Backward({PairwiseDistance(x, Variable(x.data().Clone()), p, 0)}, {Full({1}, 1)});
    EXPECT_EQ(ToVector<float>(x.grad()), (std::vector<float>{0, 0})) << p;
  }
}

TEST(MarginLosses, OfKnownDistances) {
  const LossReduction none = LossReduction::kNone;
  const Variable x = Doubles({0.25, 2, 0.25, 2}, {4}), labels(Labels());
  EXPECT_EQ(Values<double>(HingeEmbeddingLoss(x, labels, 1, none)),
            (std::vector<double>{0.25, 0, 0.75, 2}));
  EXPECT_EQ(Values<double>(HingeEmbeddingLoss(x, Variable(Labels().To(DType::kI64)), 1, none)),
            (std::vector<double>{0.25, 0, 0.75, 2}));
  EXPECT_EQ(Values<double>(MarginRankingLoss(x, Doubles({1, 1, 1, 1}, {4}), labels, 0.5, none)),
            (std::vector<double>{1.25, 1.5, 0, 0}));
  const Variable east = Doubles({1, 0}, {2}), north = Doubles({0, 2}, {2});
  const auto single = [](double label) { return Doubles({label}, {}); };
  EXPECT_EQ(CosineEmbeddingLoss(east, north, single(1)).data().Item(), 1);
  EXPECT_EQ(CosineEmbeddingLoss(east, north, single(-1), -0.5).data().Item(), 0.5);
  const TripletMarginOptions options{.eps = 0};
  EXPECT_EQ(TripletMarginLoss(east, east, north, options).data().Item(), 0);
  EXPECT_EQ(
      TripletMarginLoss(Doubles({3, 0}, {2}), Doubles({0, 0}, {2}), Doubles({3, 2}, {2}), options)
          .data()
          .Item(),
      2);
}

// Below 0 too, and however far: the loss is that of eps, the gradient 0.5 / eps as at eps itself.
TEST(GaussianNllLoss, TakesTheLeastVarianceExactly) {
  const auto below = {0.0, -0.5, -1e6, -kInfinity};
  for (const double least : {1e-6, 0.25})
    for (const double value : below) {
      Variable var(Full({1}, value), true);
      const Variable x(Zeros({1}));
      const GaussianNllOptions options{.eps = least};
      const Variable loss = GaussianNllLoss(x, x, var, options);
      const Variable at_least = GaussianNllLoss(x, x, Variable(Full({1}, least)), options);
      EXPECT_EQ(loss.data().Item(), at_least.data().Item()) << value;
      Backward({loss}, {Full({}, 1)});
      EXPECT_EQ(var.grad().Item(), 0.5f / static_cast<float>(least)) << value;
    }
  const Variable x = Doubles({0}, {1}), infinite = Doubles({kInfinity}, {1});
  EXPECT_EQ(GaussianNllLoss(x, x, infinite).data().Item(), kInfinity);
}

// What limits a variance or a norm is computed by ops, which know the types. Of the losses' steps
// only the two logarithms and their sum are rounded. Unit vectors of halves and their products are
// exact.
TEST(VectorLosses, TakeLowTypes) {
  const auto low = [](const std::vector<double>& values) {
    return Variable(Doubles(values, {1, std::ssize(values)}).data().To(DType::kBF16), true);
  };
  const Variable x = low({3, -4}), zero = low({0, 0}), var = low({0.5, 0});
  const Variable halves = low({2, -2, 2, -2});
  const double loss = -1.5 * std::log(2), rounding = 2 * UnitRoundoff(DType::kBF16);
  const auto check = [&] {
    EXPECT_NEAR(GaussianNllLoss(x, x, var, {.eps = 0.25, .reduction = LossReduction::kSum})
                    .data()
                    .To(DType::kF32)
                    .Item(),
                loss, rounding * std::abs(loss));
    EXPECT_EQ(CosineSimilarity(halves, halves).data().To(DType::kF32).Item(), 1);
    EXPECT_EQ(CosineSimilarity(x, zero).data().To(DType::kF32).Item(), 0);
  };
  check();
  const WithPrecision mixed(DType::kBF16);
  check();
}

TEST(VectorLosses, RefuseToBroadcast) {
  const Variable column(Zeros({8, 1})), row(Zeros({8})), square(Zeros({8, 8}));
  EXPECT_THROW(KlDiv(column, row), BadInput);
  EXPECT_THROW(BinaryCrossEntropy(column, row), BadInput);
  EXPECT_THROW(GaussianNllLoss(column, row, column), BadInput);
  EXPECT_THROW(GaussianNllLoss(square, square, Variable(Zeros({1, 8}))), BadInput);
  EXPECT_THROW(HingeEmbeddingLoss(column, row), BadInput);
  EXPECT_THROW(MarginRankingLoss(column, column, row), BadInput);
  EXPECT_THROW(TripletMarginLoss(column, row, column), BadInput);
  EXPECT_THROW(CosineEmbeddingLoss(square, square, column), BadInput);
}

}  // namespace
}  // namespace torus::ops
