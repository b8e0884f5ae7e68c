#include <cmath>
#include <limits>

#include "autograd/backward.h"
#include "ops/loss/class_shape.h"
#include "ops/loss/class_targets.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/mse_loss.h"
#include "ops/loss/nll_loss.h"
#include "ops/softmax/softmax.h"
#include "tests/ops/op_test.h"
#include "tests/testing/error_of.h"
#include "tests/testing/on_gpu.h"

namespace torus::ops {
namespace {

Tensor Weights() { return FromVector<double>({0.5, 1, 2}, {3}); }

// The options where the input lies.
NllLossOptions There(NllLossOptions options, const Variable& input) {
  if (options.weight.defined()) options.weight = options.weight.To(input.data().device());
  return options;
}

testing::CheckedFunction NllOf(const Variable& target, const NllLossOptions& options) {
  return [=](const Variables& in) {
    return Variables{NllLoss(in[0], Beside(in[0], target), There(options, in[0]))};
  };
}
testing::CheckedFunction EntropyOf(const Variable& target, const CrossEntropyOptions& options) {
  return [=](const Variables& in) {
    return Variables{CrossEntropy(in[0], Beside(in[0], target), There(options, in[0]))};
  };
}
testing::CheckedFunction EntropyOfProbabilities(const CrossEntropyOptions& options) {
  return [=](const Variables& in) {
    return Variables{CrossEntropy(in[0], in[1], There(options, in[0]))};
  };
}

GRADIENT_CASE(nll_loss, Mean) {
  Check(NllOf(Index({2, 0, 1, 1}, {4}), {.weight = Weights(), .ignore_index = 0}),
        {TransposedLeaf({4, 3})});
}
GRADIENT_CASE(nll_loss, NoneOverPixels) {
  Check(NllOf(Index({2, 0, 1, -1}, {1, 2, 2}),
              {.weight = Weights(), .ignore_index = -1, .reduction = LossReduction::kNone}),
        {RandomLeaf({1, 3, 2, 2})});
}
GRADIENT_CASE(nll_loss, OneSample) {
  Check(NllOf(Index({1}, {}), {.reduction = LossReduction::kSum}), {RandomLeaf({3})});
}
GRADIENT_CASE(nll_loss, EmptySum) {
  Check(NllOf(Index({}, {0}), {.reduction = LossReduction::kSum}), {RandomLeaf({0, 3})});
}
GRADIENT_CASE(cross_entropy, MeanWithIgnored) {
  Check(EntropyOf(Index({2, 0, 1, 1, 2}, {5}), {.ignore_index = 0}), {RandomLeaf({5, 3})});
}
GRADIENT_CASE(cross_entropy, NoneOverPixels) {
  Check(EntropyOf(Index({2, 0, 1, -1, 0, 2}, {2, 3}),
                  {.ignore_index = -1, .reduction = LossReduction::kNone}),
        {TransposedLeaf({2, 3, 3})});
}
GRADIENT_CASE(cross_entropy, OneSample) {
  Check(EntropyOf(Index({1}, {}), {.reduction = LossReduction::kSum}), {RandomLeaf({3})});
}
GRADIENT_CASE(cross_entropy, Empty) {
  Check(EntropyOf(Index({}, {0}), {.reduction = LossReduction::kSum}), {RandomLeaf({0, 3})});
}
GRADIENT_CASE(nll_loss, CrossEntropySmoothed) {
  Check(EntropyOf(Index({2, 0, 1, 1}, {4}),
                  {.weight = Weights(), .ignore_index = 0, .label_smoothing = 0.3}),
        {RandomLeaf({4, 3})});
}
GRADIENT_CASE(nll_loss, CrossEntropyOverPixels) {
  Check(EntropyOf(Index({2, 0, 1, 1, 0, 2}, {2, 3}),
                  {.reduction = LossReduction::kNone, .label_smoothing = 1}),
        {TransposedLeaf({2, 3, 3})});
}
GRADIENT_CASE(log_softmax, CrossEntropyOfProbabilities) {
  Check(EntropyOfProbabilities({.weight = Weights(), .label_smoothing = 0.1}),
        {RandomLeaf({2, 3, 2}), UniformLeaf({2, 3, 2}, 0, 1, 1)});
}
GRADIENT_CASE(log_softmax, CrossEntropyOfOneSample) {
  Check(EntropyOfProbabilities({.reduction = LossReduction::kNone}),
        {RandomLeaf({3}), UniformLeaf({3}, 0, 1, 1)});
}

GRADIENT_CASE(mul, MseLoss) {
  Check([](const Variables& in) { return Variables{MseLoss(in[0], in[1])}; },
        {TransposedLeaf({2, 3}), RandomLeaf({2, 3}, 1)});
}
GRADIENT_CASE(mul, MseLossWeighted) {
  Check(
      [](const Variables& in) {
        return Variables{MseLoss(in[0], in[1], LossReduction::kMean, in[2])};
      },
      {RandomLeaf({2, 3}), RandomLeaf({2, 3}, 1), UniformLeaf({2, 3}, 0.5, 2, 2)});
}
GRADIENT_CASE(abs, L1Loss) {
  Check(
      [](const Variables& in) {
        return Variables{L1Loss(in[0], in[1], LossReduction::kSum, in[2])};
      },
      {TransposedLeaf({2, 3}), RandomLeaf({2, 3}, 1), UniformLeaf({2, 3}, 0.5, 2, 2)});
  Check([](const Variables& in) { return Variables{L1Loss(in[0], in[1])}; },
        {TransposedLeaf({2, 3}), RandomLeaf({2, 3}, 1)});
}
GRADIENT_CASE(mul, HuberLoss) {
  Check(
      [](const Variables& in) {
        return Variables{HuberLoss(in[0], in[1], LossReduction::kMean, 0.7, in[2])};
      },
      {TransposedLeaf({2, 3}), RandomLeaf({2, 3}, 1), UniformLeaf({2, 3}, 0.5, 2, 2)});
}
GRADIENT_CASE(mul, SmoothL1Loss) {
  Check(
      [](const Variables& in) {
        return Variables{SmoothL1Loss(in[0], in[1], LossReduction::kNone, 0.7)};
      },
      {TransposedLeaf({2, 3}), RandomLeaf({2, 3}, 1)});
}

// Losses of the distances 0.5, 2 and 4.
TEST(RealLosses, ValuesAndMeans) {
  const Variable x(FromVector<double>({0.5, -2, 4}, {3})), zero(Zeros({3}, DType::kF64)),
      weight(FromVector<double>({1, 2, 5}, {3}));
  using Doubles = std::vector<double>;
  const LossReduction none = LossReduction::kNone, mean = LossReduction::kMean;
  EXPECT_EQ(Values<double>(L1Loss(x, zero, none, weight)), (Doubles{0.5, 4, 20}));
  EXPECT_EQ(Values<double>(HuberLoss(x, zero, none, 2)), (Doubles{0.125, 2, 6}));
  EXPECT_EQ(Values<double>(SmoothL1Loss(x, zero, none, 2)), (Doubles{0.0625, 1, 3}));
  EXPECT_EQ(Values<double>(SmoothL1Loss(x, zero, none, 0)), Values<double>(L1Loss(x, zero, none)));
  EXPECT_EQ(L1Loss(x, zero, mean, weight).data().Item(), 24.5 / 8);
  EXPECT_EQ(MseLoss(x, zero, mean, weight).data().Item(), (0.25 + 8 + 80) / 8);
  EXPECT_EQ(HuberLoss(x, zero, mean, 2, weight).data().Item(), (0.125 + 4 + 30) / 3);
}

// As in PyTorch: an infinite distance is as any other beyond the bound, nothing cancels where the
// distance is small, and NaN stays NaN.
TEST(RealLosses, GradientsAtInfiniteSmallAndNoDistances) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Variable zero(Zeros({3}, DType::kF32));
  for (const bool huber : {true, false}) {
    Variable x(FromVector<float>({kInfinity, -kInfinity, 1e-8f}, {3}), true);
    const LossReduction sum = LossReduction::kSum;
    Backward({huber ? HuberLoss(x, zero, sum, 2) : SmoothL1Loss(x, zero, sum, 2)});
    const float scale = huber ? 1 : 0.5f;
    EXPECT_EQ(ToVector<float>(x.grad()),
              (std::vector<float>{2 * scale, -2 * scale, 1e-8f * scale}));
    Variable nan(FromVector<float>({std::nanf("")}, {1}), true);
    const Variable one(Zeros({1}, DType::kF32));
    Backward({huber ? HuberLoss(nan, one, sum) : SmoothL1Loss(nan, one, sum)});
    EXPECT_TRUE(std::isnan(nan.grad().Item()));
  }
}

GRADIENT_CASE(log_sigmoid, BinaryCrossEntropy) {
  const BinaryCrossEntropyOptions options{.weight = FromVector<double>({0.5, 2}, {2, 1}),
                                          .pos_weight = Weights()};
  Check(
      [options](const Variables& in) {
        const Device device = in[0].data().device();
        return Variables{BinaryCrossEntropyWithLogits(
            in[0], in[1], {options.weight.To(device), options.pos_weight.To(device)})};
      },
      {TransposedLeaf({2, 3}), UniformLeaf({2, 3}, 0, 1, 1)});
}

TEST(BinaryCrossEntropy, OfLargeLogits) {
  const auto loss = [](double x, double t) {
    const auto scalar = [](double v) { return Variable(Full({}, v, DType::kF64)); };
    return BinaryCrossEntropyWithLogits(scalar(x), scalar(t)).data().Item();
  };
  EXPECT_EQ(loss(1000, 0), 1000);
  EXPECT_EQ(loss(1000, 1), 0);
  EXPECT_EQ(loss(-1000, 1), 1000);
  EXPECT_NEAR(loss(0, 0.3), std::log(2.0), 1e-15);
}

TEST(NllLoss, WeighsAndIgnores) {
  const Variable x(FromVector<double>({-1, -2, -3, -4, -5, -6}, {2, 3}));
  const auto loss = [&](const std::vector<int64_t>& target, const NllLossOptions& options) {
    return ToVector<double>(NllLoss(x, Index(target, {2}), options).data());
  };
  EXPECT_EQ(loss({0, 2}, {}), (std::vector<double>{3.5}));
  EXPECT_EQ(loss({0, 2}, {.weight = Weights()}), (std::vector<double>{(0.5 + 12) / 2.5}));
  EXPECT_EQ(loss({0, -100}, {}), (std::vector<double>{1}));
  EXPECT_EQ(loss({0, 2}, {.ignore_index = 2, .reduction = LossReduction::kNone}),
            (std::vector<double>{1, 0}));
  EXPECT_TRUE(std::isnan(loss({-100, -100}, {})[0]));
  EXPECT_EQ(loss({-100, -100}, {.reduction = LossReduction::kSum})[0], 0);
}

// The same on a GPU: of many parts, with some ignored, and a wrong one named.
TEST(ClassTargets, OnAGpu) {
  if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  for (const int64_t count : {1, 64, 65, 5000, 300000}) {
    Tensor numbers({count}, DType::kI64);
    int64_t* p = numbers.mutable_data<int64_t>();
    for (int64_t i = 0; i < count; ++i) p[i] = i % 7 == 3 || i / 100 % 3 == 1 ? -1 : i % 10;
    const Tensor there = numbers.To(testing::kFirstGpu);
    const CountedTargets want = FindCounted({numbers, -1}), got = FindCounted({there, -1});
    ASSERT_EQ(got.places.shape(), want.places.shape());
    EXPECT_EQ(ToVector<int64_t>(got.places), ToVector<int64_t>(want.places));
    EXPECT_EQ(ToVector<int64_t>(got.numbers), ToVector<int64_t>(want.numbers));
    EXPECT_NO_THROW(CheckedTargets("nll_loss", {count, 10}, there, -1));
    if (count < 5000) continue;
    try {
      CheckedTargets("nll_loss", {count, 9}, there, -1);
      FAIL();
    } catch (const BadInput& e) {
      EXPECT_STREQ(
          e.what(),
          "[nll_loss] target 9 at position 9 is neither one of 9 classes nor ignored (-1)");
    }
  }
}

// A class of probability zero that is not the target costs nothing.
TEST(NllLoss, InfinityBesideTheTarget) {
  const Variable x(FromVector<float>({-1, -INFINITY}, {1, 2}));
  EXPECT_EQ(NllLoss(x, Index({0}, {1})).data().Item(), 1);
}

TEST(CrossEntropy, SmoothingIsAMixtureOfProbabilities) {
  const Variable x = RandomLeaf({2, 3});
  const Variable mixed(FromVector<double>({0.8, 0.1, 0.1, 0.1, 0.1, 0.8}, {2, 3}));
  EXPECT_NEAR(CrossEntropy(x, Index({0, 2}, {2}), {.label_smoothing = 0.3}).data().Item(),
              CrossEntropy(x, mixed).data().Item(), 1e-15);
}

TEST(CrossEntropy, OfLargeLogits) {
  const Variable x(FromVector<float>({10000, 0}, {1, 2}));
  EXPECT_EQ(CrossEntropy(x, Index({1}, {1})).data().Item(), 10000);
}

TEST(ClassShape, Rule) {
  EXPECT_EQ(WithoutClasses("nll_loss", {3}), Shape());
  EXPECT_EQ(WithoutClasses("nll_loss", {2, 3, 4, 5}), Shape({2, 4, 5}));
  EXPECT_THROW(ClassDim("nll_loss", {}), BadInput);
}

TEST(Loss, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({2, 3}));
  try {
    NllLoss(x, Index({0, 3}, {2}));
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(
        e.what(),
        "[nll_loss] target 3 at position 1 is neither one of 3 classes nor ignored (-100)");
  }
  EXPECT_THROW(NllLoss(x, Index({0, -1}, {2})), BadInput);
  EXPECT_THROW(NllLoss(x, Index({0}, {1})), BadInput);
  EXPECT_EQ(testing::ErrorOf([&] { NllLoss(x, Variable(Zeros({2}))); }),
            "[nll_loss] class numbers must be integers, got f32 (2) on cpu");
  EXPECT_THROW(NllLoss(x, Index({0, 1}, {2}), {.weight = Zeros({2})}), BadInput);
  EXPECT_THROW(CrossEntropy(x, Index({0, 1}, {2}), {.label_smoothing = 1.5}), BadInput);
  EXPECT_EQ(testing::ErrorOf([&] { CrossEntropy(x, Variable(Zeros({2}))); }),
            "[cross_entropy] a target of f32 means probabilities, of shape (2, 3) as the input, "
            "got (2); class numbers must be integers");
  EXPECT_THROW(CrossEntropy(x, x, {.weight = Zeros({2})}), BadInput);
  EXPECT_THROW(BinaryCrossEntropyWithLogits(x, Variable(Zeros({3}))), BadInput);
  EXPECT_THROW(MseLoss(x, Variable(Zeros({2}))), BadInput);
  const Variable column(Zeros({8, 1})), row(Zeros({8}));
  for (const auto loss : {MseLoss, L1Loss}) {
    EXPECT_THROW(loss(column, row, LossReduction::kMean, {}), BadInput);
    EXPECT_THROW(loss(x, Variable(Zeros({1, 3})), LossReduction::kMean, {}), BadInput);
  }
  EXPECT_THROW(SmoothL1Loss(column, row), BadInput);
  EXPECT_THROW(HuberLoss(column, row), BadInput);
  EXPECT_THROW(MseLoss(x, x, LossReduction::kNone, Variable(Zeros({3}))), BadInput);
  EXPECT_THROW(HuberLoss(x, x, LossReduction::kNone, 0), BadInput);
  EXPECT_THROW(SmoothL1Loss(x, x, LossReduction::kNone, -1), BadInput);
  EXPECT_THROW(ParseLossReduction("nll_loss", "average"), BadInput);
}

TEST(ClassTargets, ThoseThatCountAreFoundInOrder) {
  const ClassTargets targets{FromVector<int64_t>({4, -100, 2, -100, 0, 1}, {2, 3})};
  const CountedTargets counted = FindCounted(targets);
  EXPECT_EQ(ToVector<int64_t>(counted.places), (std::vector<int64_t>{0, 2, 4, 5}));
  EXPECT_EQ(ToVector<int64_t>(counted.numbers), (std::vector<int64_t>{4, 2, 0, 1}));
  const CountedTargets all = FindCounted({targets.numbers.To(kMetaDevice)});
  EXPECT_EQ(all.places.device(), kMetaDevice);
  EXPECT_EQ(all.numbers.shape(), Shape{6});
}

}  // namespace
}  // namespace torus::ops
