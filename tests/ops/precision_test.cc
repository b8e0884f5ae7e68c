// Ops in mixed precision: which types come out, and that their values are those of f32 computed on
// rounded inputs, rounded once.
#include <gtest/gtest.h>

#include <functional>

#include "autograd/backward.h"
#include "autograd/low_copy.h"
#include "autograd/recompute.h"
#include "autograd/saved_activation.h"
#include "ops/activation/activation.h"
#include "ops/attention/attention.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/conv_chain/conv_chain.h"
#include "ops/convolution/convolution.h"
#include "ops/elementwise/elementwise.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/loss/linear_cross_entropy.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/matmul.h"
#include "ops/precision/in_precision.h"
#include "ops/reduction/reduction.h"
#include "ops/softmax/softmax.h"
#include "ops/view/join.h"
#include "ops/view/view.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/rng.h"
#include "runtime/vector_unit.h"
#include "tests/testing/same_bits.h"

namespace torus::ops {
namespace {

constexpr DType kLow = DType::kBF16, kFull = DType::kF32;

Tensor Random(const Shape& shape, uint64_t seed) {
  Tensor values = Empty(shape);
  FillNormal(values, 0, 1, RandomStream({.seed = seed}));
  return values;
}

Variable Leaf(const Shape& shape, uint64_t seed) { return Variable(Random(shape, seed), true); }

// To bf16 and back.
Tensor Rounded(const Tensor& t) { return t.To(kLow).To(kFull); }
Variable Rounded(const Variable& v) { return Variable(Rounded(v.data()), v.requires_grad()); }

// What op(inputs) gives in bf16 is op of the rounded inputs in f32, rounded; and so are the
// gradients, by the rounded gradient of the output.
void ExpectLow(const std::function<Variable(const std::vector<Variable>&)>& op,
               const std::vector<Variable>& inputs) {
  std::vector<Variable> rounded;
  for (const Variable& input : inputs) rounded.push_back(Rounded(input));
  const Variable want = op(rounded);
  const auto got = [&] {
    const WithPrecision low(kLow);
    return op(inputs);
  }();
  testing::ExpectSameBits(got.data(), want.data().To(kLow));
  const Tensor dy = Random(want.shape(), 99).To(kLow);
  Backward({got}, {dy});
  Backward({want}, {dy.To(kFull)});
  for (size_t i = 0; i < inputs.size(); ++i)
    testing::ExpectSameBits(inputs[i].grad(), Rounded(rounded[i].grad()));
}

TEST(Precision, ProductsRoundTheirInputsAndTheirOutput) {
  ExpectLow([](const auto& v) { return Linear(v[0], v[1], v[2]); },
            {Leaf({5, 7}, 1), Leaf({3, 7}, 2), Leaf({3}, 3)});
  ExpectLow([](const auto& v) { return LinearInOut(v[0], v[1]); },
            {Leaf({4, 7}, 1), Leaf({7, 3}, 2)});
  ExpectLow([](const auto& v) { return Matmul(v[0], v[1]); },
            {Leaf({2, 4, 5}, 1), Leaf({2, 5, 3}, 2)});
  ExpectLow(
      [](const auto& v) {
        return Conv2d(v[0], v[1], v[2], {.padding = {1, 1}});
      },
      {Leaf({2, 6, 6, 4}, 1), Leaf({5, 3, 3, 4}, 2), Leaf({5}, 3)});
  ExpectLow([](const auto& v) { return ScaledDotProductAttention(v[0], v[1], v[2]); },
            {Leaf({2, 2, 6, 4}, 1), Leaf({2, 2, 6, 4}, 2), Leaf({2, 2, 6, 4}, 3)});
}

TEST(Precision, AMaskMayBeAddedInAnyType) {
  const Variable q = Leaf({1, 2, 3, 4}, 1), mask(Random({3, 3}, 4));
  const WithPrecision low(kLow);
  for (const Variable& added : {mask, Variable(mask.data().To(kLow))})
    EXPECT_EQ(ScaledDotProductAttention(q, q, q, {.attn_mask = added}).dtype(), kLow);
}

TEST(Precision, LossesAreFullAndNormsOfRowsRoundTheirResult) {
  const Variable x(Random({4, 6}, 1).To(kLow), true);
  const Variable wide = Variable(x.data().To(kFull));
  const WithPrecision low(kLow);
  testing::ExpectSameBits(Softmax(x, -1).data(), Softmax(wide, -1).data());
  testing::ExpectSameBits(Mean(x).data(), Mean(wide).data());
  const Variable w = Leaf({6}, 2), b = Leaf({6}, 3);
  const Variable y = LayerNorm(x, {6}, w, b);
  EXPECT_EQ(y.dtype(), kLow);
  {
    const WithPrecision none(kFull);
    testing::ExpectSameBits(y.data(), LayerNorm(wide, {6}, w, b).data().To(kLow));
  }
  Backward({Sum(y)}, {Full({}, 1)});
  EXPECT_EQ(x.grad().dtype(), kLow);
  EXPECT_EQ(w.grad().dtype(), kFull);
}

TEST(Precision, AProductWithALossBehindItIsFull) {
  const Variable hidden = Leaf({4, 6}, 1), weight = Leaf({9, 6}, 2);
  const Variable target(Full({4}, 3, DType::kI64));
  const Variable want = LinearCrossEntropy(Rounded(hidden), Rounded(weight), {}, target, {});
  const WithPrecision low(kLow);
  testing::ExpectSameBits(LinearCrossEntropy(hidden, weight, {}, target, {}).data(), want.data());
}

TEST(Precision, PointwiseOpsTakeTheWidestType) {
  const Variable a(Random({3, 4}, 1).To(kLow)), b(Random({3, 4}, 2).To(kLow)), c = Leaf({3, 4}, 3);
  const Tensor sum = Add(Variable(a.data().To(kFull)), Variable(b.data().To(kFull))).data();
  {
    const WithPrecision low(kLow);
    testing::ExpectSameBits(Add(a, b).data(), sum.To(kLow));
    EXPECT_EQ(Add(a, c).dtype(), kFull);
    EXPECT_EQ(Mul(a, 0.3).dtype(), kLow);
    EXPECT_EQ(Gelu(a).dtype(), kLow);
    EXPECT_EQ(Relu(c).dtype(), kFull);
  }
  // Outside of mixed precision too, but for types that differ.
  testing::ExpectSameBits(Add(a, b).data(), sum.To(kLow));
  EXPECT_THROW(Add(a, c), BadInput);
}

TEST(Precision, PartsAreJoinedInTheWidestType) {
  const Variable a(Random({3, 4}, 1).To(kLow)), c = Leaf({3, 4}, 3);
  EXPECT_EQ(Cat({a, a}).dtype(), kLow);
  EXPECT_THROW(Cat({a, c}), BadInput);
  const WithPrecision low(kLow);
  EXPECT_EQ(Cat({a, a}).dtype(), kLow);
  testing::ExpectSameBits(Narrow(Cat({a, c}), 0, 0, 3).data(), a.data().To(kFull));
}

// A number is not rounded before it meets its tensor.
TEST(Precision, NumbersStayWhatTheyAre) {
  const Variable a(Full({2}, 3).To(kLow));
  EXPECT_EQ(Mul(a, 1.001953125).data().To(kFull).data<float>()[0], 3.0f);  // 3.00586 rounds to 3
  EXPECT_EQ(Mul(a, 1.005).data().To(kFull).data<float>()[0], 3.015625f);
}

TEST(Precision, BatchNormGivesTheTypeOfItsInputAndFullStatistics) {
  const Variable x(Random({4, 3, 3, 2}, 1).To(kLow), true), wide(x.data().To(kFull), true);
  const Variable w = Leaf({2}, 2), b = Leaf({2}, 3);
  const BatchNormResult want = BatchNormTrain(wide, w, b);
  const WithPrecision low(kLow);
  const BatchNormResult got = BatchNormTrain(x, w, b);
  testing::ExpectSameBits(got.y.data(), want.y.data().To(kLow));
  testing::ExpectSameBits(got.mean, want.mean);
  testing::ExpectSameBits(got.var, want.var);
  testing::ExpectSameBits(BatchNormEval(x, got.mean, got.var, w, b).data(),
                          BatchNormEval(wide, got.mean, got.var, w, b).data().To(kLow));
}

TEST(Precision, AChainIsComposed) {
  const Variable x = Leaf({2, 6, 6, 4}, 1), w = Leaf({8, 1, 1, 4}, 2), g = Leaf({8}, 3),
                 b = Leaf({8}, 4);
  const WithPrecision low(kLow);
  const ConvChainResult got = ConvChainTrain(x, {{.weight = w, .norm_weight = g, .norm_bias = b}});
  testing::ExpectSameBits(got.y.data(), BatchNormTrain(Conv2d(x, w), g, b).y.data());
  EXPECT_EQ(got.y.dtype(), kLow);
}

TEST(Precision, LeavesF64Alone) {
  const Variable a(Random({3, 4}, 1).To(DType::kF64)), b(Random({3, 4}, 2).To(DType::kF64));
  const WithPrecision low(kLow);
  EXPECT_EQ(Matmul(a, Transpose(b, 0, 1)).dtype(), DType::kF64);
}

TEST(Precision, AWeightIsRoundedOnceUntilItChanges) {
  Variable w = Leaf({3, 4}, 1);
  const Tensor first = LowCopyOf(w, kLow), again = LowCopyOf(w, kLow);
  EXPECT_EQ(first.storage(), again.storage());
  w.mutable_data().mutable_data<float>()[5] = 2;
  const Tensor changed = LowCopyOf(w, kLow);
  EXPECT_EQ(changed.To(kFull).data<float>()[5], 2.0f);
  w.SetData(Full({3, 4}, 7));
  EXPECT_EQ(LowCopyOf(w, kLow).To(kFull).data<float>()[5], 7.0f);
  testing::ExpectSameBits(LowCopyOf(w, DType::kF16), w.data().To(DType::kF16));
}

TEST(Precision, OnlyCopiesThatWereUsedAndAreNotCurrentAreRenewed) {
  std::vector<Variable> leaves;
  for (int i = 0; i < 5; ++i) leaves.push_back(Leaf({3, 4}, i));
  enum { kChanged, kForgotten, kCurrent, kOther, kNeverUsed };
  for (const int used : {kChanged, kForgotten, kCurrent}) LowCopyOf(leaves[used], kLow);
  LowCopyOf(leaves[kOther], DType::kF16);
  for (const int changed : {kChanged, kOther})
    leaves[changed].mutable_data().mutable_data<float>()[5] = 2;
  ForgetLowCopy(leaves[kForgotten]);

  std::vector<Tensor> filled;
  const FillCopies fill = [&](const std::vector<Tensor>& values, std::vector<Tensor>& copies) {
    for (size_t i = 0; i < values.size(); ++i) Copy(values[i], copies[i]);
    filled = copies;
  };
  RenewLowCopies(leaves, kLow, fill);
  ASSERT_EQ(filled.size(), 2u);
  for (const int renewed : {kChanged, kForgotten}) {
    const Tensor copy = LowCopyOf(leaves[renewed], kLow);
    EXPECT_EQ(copy.storage(), filled[static_cast<size_t>(renewed)].storage());
    testing::ExpectSameBits(copy, leaves[renewed].data().To(kLow));
  }
  const FillCopies never = [](const auto&, auto&) { FAIL() << "all are current"; };
  RenewLowCopies(leaves, kLow, never);
  EXPECT_EQ(LowCopyOf(leaves[kOther], DType::kF16).To(kFull).data<float>()[5], 2.0f);
}

TEST(Precision, ACopyIsRenewedWhereItIs) {
  Variable w = Leaf({3, 4}, 1);
  EXPECT_FALSE(KeptLowCopy(w).defined()) << "none was asked for";
  const Tensor copy = LowCopyOf(w, kLow);
  const auto change = [&](float to) { w.mutable_data().mutable_data<float>()[5] = to; };
  change(2);
  EXPECT_FALSE(LowCopyIsCurrent(w));
  EXPECT_EQ(KeptLowCopy(w).storage(), copy.storage()) << "current or not";
  EXPECT_EQ(LowCopyOf(w, kLow).storage(), copy.storage());
  testing::ExpectSameBits(copy, w.data().To(kLow));

  change(3);
  const std::vector<Variable> leaves{w};
  RenewLowCopies(leaves, kLow, [&](const std::vector<Tensor>& values, std::vector<Tensor>& to) {
    EXPECT_EQ(to.at(0).storage(), copy.storage());
    Copy(values.at(0), to.at(0));
  });
  testing::ExpectSameBits(LowCopyOf(w, kLow), w.data().To(kLow));

  change(4);
  Tensor written = copy;
  Copy(w.data(), written);
  LowCopyIsWritten(w);
  RenewLowCopies(leaves, kLow, [](const auto&, auto&) { FAIL() << "it is current"; });
  EXPECT_EQ(LowCopyOf(w, kLow).storage(), copy.storage());
}

TEST(Precision, ACopyOfOtherValuesIsMadeAnew) {
  Variable w = Leaf({3, 4}, 1);
  LowCopyOf(w, kLow);
  ForgetLowCopy(w);
  EXPECT_FALSE(KeptLowCopy(w).defined());
  const Tensor before = LowCopyOf(w, kLow);
  w.SetData(Random({4, 3}, 2).Transpose(0, 1));
  EXPECT_FALSE(KeptLowCopy(w).defined()) << "of another layout";
  EXPECT_NE(LowCopyOf(w, kLow).storage(), before.storage());
  testing::ExpectSameBits(LowCopyOf(w, kLow), w.data().To(kLow));
}

// A backward must not use what was overwritten.
TEST(Precision, ACopyThatABackwardSavedMustNotChange) {
  if (!HasBf16Products())
    GTEST_SKIP() << "this processor has neither AVX512_BF16 nor AMX_BF16: NOT tested";
  Variable w = Leaf({3, 4}, 1);
  const Variable x(Random({2, 4}, 2), true);
  const WithPrecision native({kLow, MatmulMode::kNative});
  const Variable y = Linear(x, w);
  w.mutable_data().mutable_data<float>()[5] = 2;
  LowCopyOf(w, kLow);
  EXPECT_THROW(Backward({y}, {Full({2, 3}, 1, kLow)}), BadInput);
}

TEST(Precision, UsesOfOneWeightShareACopy) {
  Variable w = Leaf({3, 4}, 1), use(w.data(), true);
  ShareLowCopy(w, use);
  const Tensor copy = LowCopyOf(use, kLow);
  EXPECT_EQ(KeptLowCopy(w).storage(), copy.storage());
  w.mutable_data().mutable_data<float>()[5] = 2;
  const std::vector<Variable> leaves{w, use};
  RenewLowCopies(leaves, kLow, [&](const std::vector<Tensor>& values, std::vector<Tensor>& to) {
    EXPECT_EQ(to.size(), 1u);
    Copy(values.at(0), to.at(0));
  });
  EXPECT_EQ(LowCopyOf(use, kLow).storage(), copy.storage());
  testing::ExpectSameBits(copy, w.data().To(kLow));
  use.SetData(Random({3, 4}, 2));
  testing::ExpectSameBits(LowCopyOf(use, kLow), use.data().To(kLow));
  testing::ExpectSameBits(LowCopyOf(w, kLow), w.data().To(kLow));
  EXPECT_THROW(ShareLowCopy(w, use), InternalError);
}

TEST(Precision, JoinedCopiesLieInOneMemory) {
  std::vector<Variable> leaves{Leaf({3, 4}, 1), Leaf({2, 4}, 2), Leaf({1, 4}, 3)};
  LowCopyOf(leaves[1], kLow);
  const auto expect = [&](const Tensor& joined) {
    ASSERT_EQ(joined.shape(), (Shape{6, 4}));
    int64_t at = 0;
    for (const Variable& leaf : leaves) {
      testing::ExpectSameBits(joined.Narrow(0, at, leaf.dim(0)), leaf.data().To(kLow));
      EXPECT_EQ(LowCopyOf(leaf, kLow).storage(), joined.storage());
      at += leaf.dim(0);
    }
  };
  const Tensor joined = JoinedLowCopyOf(leaves, kLow);
  expect(joined);
  leaves[2].mutable_data().mutable_data<float>()[1] = 2;
  LowCopyOf(leaves[2], kLow);
  EXPECT_EQ(JoinedLowCopyOf(leaves, kLow).storage(), joined.storage()) << "renewed in place";
  expect(joined);
  leaves[0].mutable_data().mutable_data<float>()[1] = 2;
  expect(JoinedLowCopyOf(leaves, kLow));
  ForgetLowCopy(leaves[1]);
  expect(JoinedLowCopyOf(leaves, kLow));
}

// Two uses add to the weight in f32, each rounded by itself: so it does not matter whether they
// share a copy.
TEST(Precision, EachUseRoundsItsGradientByItself) {
  const Variable x1(Random({2, 4}, 1)), x2(Random({2, 4}, 2)), w = Leaf({3, 4}, 3);
  const auto gradient = [&](const Variable& x) {
    const WithPrecision low(kLow);
    Backward({Sum(Linear(x, w))}, {Full({}, 1)});
    Tensor grad = w.grad();
    Variable(w).ZeroGrad();
    return grad;
  };
  Tensor apart = gradient(x1).Clone();
  AddInPlace(apart, gradient(x2));
  {
    const WithPrecision low(kLow);
    Backward({Sum(Add(Linear(x1, w), Linear(x2, w)))}, {Full({}, 1)});
  }
  testing::ExpectSameBits(w.grad(), apart);
}

// As PyTorch's checkpoint does: the backward is mostly called outside of the scope.
TEST(Precision, ARecomputationIsInThePrecisionOfItsForward) {
  const Variable x = Leaf({5, 8}, 1), w = Leaf({3, 8}, 2);
  const auto function = [&](const std::vector<Variable>& in) {
    return std::vector<Variable>{Gelu(Linear(in[0], w))};
  };
  const auto gradients = [&](const auto& forward) {
    const Variable y = [&] {
      const WithPrecision low(kLow);
      const ActivationStorage storage(kLow);
      return forward();
    }();
    Backward({y}, {Full(y.shape(), 1, y.dtype())});
    const std::vector<Tensor> all{x.grad(), w.grad()};
    Variable(x).ZeroGrad();
    Variable(w).ZeroGrad();
    return all;
  };
  const std::vector<Tensor> plain = gradients([&] { return function({x})[0]; });
  const std::vector<Tensor> again = gradients([&] { return Recompute(function, {x}, {w})[0]; });
  for (size_t i = 0; i < plain.size(); ++i) testing::ExpectSameBits(plain[i], again[i]);
}

TEST(Precision, KnowsThreeTypes) {
  EXPECT_THROW(WithPrecision(DType::kF64), BadInput);
  EXPECT_THROW(WithPrecision({DType::kBF16, MatmulMode::kTf32}), BadInput);
  {
    const WithPrecision outer(kLow);
    { const WithPrecision inner(kFull); }
    EXPECT_EQ(WithPrecision::Current(), kLow);
  }
  EXPECT_EQ(WithPrecision::Current(), kFull);
}

}  // namespace
}  // namespace torus::ops
