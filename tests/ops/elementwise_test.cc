#include "ops/elementwise/elementwise.h"

#include "autograd/backward.h"
#include "ops/elementwise/broadcast.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/remainder.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

Variable Floats(const std::vector<float>& values, const Shape& shape) {
  return Variable(FromVector(values, shape));
}

Variables AddAll(const Variables& in) { return {Add(in[0], in[1])}; }
Variables SubAll(const Variables& in) { return {Sub(in[0], in[1])}; }
Variables MulAll(const Variables& in) { return {Mul(in[0], in[1])}; }
Variables DivAll(const Variables& in) { return {Div(in[0], in[1])}; }

GRADIENT_CASE(add, Scalars) { Check(AddAll, {RandomLeaf({}), RandomLeaf({}, 1)}); }
GRADIENT_CASE(add, BroadcastBothWays) {
  Check(AddAll, {RandomLeaf({3, 1, 2}), RandomLeaf({4, 1}, 1)});
}
GRADIENT_CASE(add, Alpha) {
  Check([](const Variables& in) { return Variables{Add(in[0], in[1], -2.5)}; },
        {RandomLeaf({2, 3}), RandomLeaf({3}, 1)});
}
GRADIENT_CASE(add, Views) { Check(AddAll, {TransposedLeaf({3, 4}), RandomLeaf({3, 4}, 1)}); }
GRADIENT_CASE(add, Empty) { Check(AddAll, {RandomLeaf({0, 3}), RandomLeaf({3}, 1)}); }
GRADIENT_CASE(add, OneInputTwice) {
  Check([](const Variables& in) { return Variables{Add(in[0], in[0])}; }, {RandomLeaf({3})});
}
GRADIENT_CASE(add, Number) {
  Check([](const Variables& in) { return Variables{Add(in[0], 2.0)}; }, {RandomLeaf({3})});
}
GRADIENT_CASE(sub, Broadcast) { Check(SubAll, {RandomLeaf({2, 3}), RandomLeaf({2, 1}, 1)}); }
GRADIENT_CASE(sub, ScalarFirst) { Check(SubAll, {RandomLeaf({}), TransposedLeaf({2, 3}, 1)}); }
GRADIENT_CASE(sub, Alpha) {
  Check([](const Variables& in) { return Variables{Sub(in[0], in[1], 3)}; },
        {RandomLeaf({1, 3}), RandomLeaf({2, 1}, 1)});
}
GRADIENT_CASE(mul, Broadcast) { Check(MulAll, {RandomLeaf({2, 1, 3}), RandomLeaf({5, 1}, 1)}); }
GRADIENT_CASE(mul, OneInputTwice) {
  Check([](const Variables& in) { return Variables{Mul(in[0], in[0])}; }, {TransposedLeaf({3, 2})});
}
GRADIENT_CASE(mul, Empty) { Check(MulAll, {RandomLeaf({2, 0}), RandomLeaf({2, 1}, 1)}); }
GRADIENT_CASE(mul, Number) {
  Check([](const Variables& in) { return Variables{Mul(in[0], -1.5)}; }, {RandomLeaf({2, 2})});
}
GRADIENT_CASE(div, Broadcast) { Check(DivAll, {RandomLeaf({2, 3}), UniformLeaf({3}, 0.5, 2, 1)}); }
GRADIENT_CASE(div, Views) {
  Check(DivAll, {TransposedLeaf({1, 3, 2}), UniformLeaf({4, 1, 2}, -2, -0.5, 1)});
}
GRADIENT_CASE(div, OneInputTwice) {
  Check([](const Variables& in) { return Variables{Div(in[0], in[0])}; },
        {UniformLeaf({3}, 0.5, 2)});
}
GRADIENT_CASE(neg, Views) {
  Check([](const Variables& in) { return Variables{Neg(in[0])}; }, {TransposedLeaf({2, 3})});
}

// The divisor lies away from where the quotient steps.
GRADIENT_CASE(remainder, Broadcast) {
  Check([](const Variables& in) { return Variables{Remainder(in[0], in[1])}; },
        {TransposedLeaf({3, 4}), UniformLeaf({4}, 0.4, 0.6, 1)});
}
GRADIENT_CASE(remainder, Number) {
  Check([](const Variables& in) { return Variables{Remainder(in[0], -0.7)}; }, {RandomLeaf({3})});
}
GRADIENT_CASE(fmod, Broadcast) {
  Check([](const Variables& in) { return Variables{Fmod(in[0], in[1])}; },
        {TransposedLeaf({3, 4}), UniformLeaf({3, 1}, -0.6, -0.4, 1)});
}
GRADIENT_CASE(fmod, Number) {
  Check([](const Variables& in) { return Variables{Fmod(in[0], 0.7)}; }, {RandomLeaf({0, 3})});
}

// Linear, so a wide step loses nothing and keeps f32's rounding small beside it.
GRADIENT_CASE(cast, ThroughFloat) {
  Check([](const Variables& in) { return Variables{Cast(Cast(in[0], DType::kF32), DType::kF64)}; },
        {TransposedLeaf({2, 3})}, {.eps = 1e-2});
}

TEST(Cast, KeepsItselfAndStopsGradientsOfWholeNumbers) {
  const Variable x(FromVector<float>({-1.5, 2.5}, {2}), true);
  EXPECT_EQ(Cast(x, DType::kF32), x);
  EXPECT_EQ(ToVector<int64_t>(Cast(x, DType::kI64).data()), (std::vector<int64_t>{-1, 2}));
  EXPECT_FALSE(Cast(x, DType::kI64).requires_grad());
  EXPECT_TRUE(Cast(x, DType::kBF16).requires_grad());
}

TEST(Cast, GradientsOfHalvesAdd) {
  for (const DType half : {DType::kBF16, DType::kF16}) {
    const Variable x(FromVector<float>({-1.5, 2.5}, {2}), true), y = Cast(x, half);
    const Variable twice = Add(Cast(y, DType::kF32), Cast(y, DType::kF32));
    Backward({twice}, {FromVector<float>({1, 3}, {2})});
    EXPECT_EQ(ToVector<float>(x.grad()), (std::vector<float>{2, 6})) << Name(half);
  }
}

// The values are torch.div's.
TEST(Div, RoundsTowardsZeroOrDown) {
  const Variable a = Floats({7, -7, 7, -7, 1, 0}, {6}), b = Floats({2, 2, -2, -2, 0, -3}, {6});
  EXPECT_EQ(ToVector<float>(Div(a, b, DivRounding::kTrunc).data()),
            (std::vector<float>{3, -3, -3, 3, INFINITY, 0}));
  EXPECT_EQ(ToVector<float>(Div(a, b, DivRounding::kFloor).data()),
            (std::vector<float>{3, -4, -4, 3, INFINITY, 0}));
  // 1 / 0.1f rounds to 10, but 0.1f is a little more than a tenth.
  const Variable one = Floats({1}, {1}), tenth = Floats({0.1f}, {1});
  EXPECT_EQ(Div(one, tenth, DivRounding::kTrunc).data().Item(), 10);
  EXPECT_EQ(Div(one, tenth, DivRounding::kFloor).data().Item(), 9);
}

TEST(Div, SmallDenominatorsOverflowNothing) {
  const Variable a = Floats({0}, {1}), b(FromVector<float>({1e-39f}, {1}), true);
  Backward({Div(a, b)}, {Full({1}, 1)});
  EXPECT_EQ(b.grad().Item(), 0);
}

TEST(PlanBroadcast, MergesWhatIsWalkedAlike) {
  const Tensor a = Zeros({2, 3, 4}), row = Zeros({4}), column = Zeros({3, 1});
  EXPECT_EQ(PlanBroadcast({2, 3, 4}, {&a, &a}).shape, Shape({24}));
  const BroadcastPlan by_row = PlanBroadcast({2, 3, 4}, {&a, &row});
  EXPECT_EQ(by_row.shape, Shape({6, 4}));
  EXPECT_EQ(by_row.strides[0], Strides({4, 1}));
  EXPECT_EQ(by_row.strides[1], Strides({0, 1}));
  const BroadcastPlan by_column = PlanBroadcast({2, 3, 4}, {&a, &column});
  EXPECT_EQ(by_column.shape, Shape({2, 3, 4}));
  EXPECT_EQ(by_column.strides[1], Strides({0, 1, 0}));
}

TEST(Elementwise, BroadcastsAsNumPy) {
  const Variable a = Floats({1, 2, 3}, {3, 1}), b = Floats({10, 20}, {2});
  EXPECT_EQ(Add(a, b).shape(), Shape({3, 2}));
  EXPECT_EQ(ToVector<float>(Add(a, b).data()), (std::vector<float>{11, 21, 12, 22, 13, 23}));
  EXPECT_EQ(ToVector<float>(Sub(b, a).data()), (std::vector<float>{9, 19, 8, 18, 7, 17}));
  EXPECT_EQ(ToVector<float>(Div(b, 4).data()), (std::vector<float>{2.5, 5}));
}

TEST(Elementwise, WalksViewsInPlace) {
  const Variable a = Floats({1, 2, 3, 4, 5, 6}, {2, 3});
  const Variable view(a.data().Transpose(0, 1).Narrow(0, 1, 2));
  EXPECT_EQ(ToVector<float>(Mul(view, view).data()), (std::vector<float>{4, 25, 9, 36}));
}

TEST(Elementwise, DividesByZeroAsIeee) {
  const std::vector<float> out = ToVector<float>(Div(Floats({1, -1, 0}, {3}), 0.0).data());
  EXPECT_EQ(out[0], INFINITY);
  EXPECT_EQ(out[1], -INFINITY);
  EXPECT_TRUE(std::isnan(out[2]));
}

TEST(Elementwise, NamesWhatDoesNotFit) {
  const Variable a = Floats({1, 2, 3}, {3});
  try {
    Add(a, Floats({1, 2}, {2}));
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(), "[add] shapes do not broadcast: (3) and (2)");
  }
  EXPECT_THROW(Mul(a, Variable(Zeros({3}, DType::kF64))), BadInput);
  EXPECT_THROW(Neg(Variable(Zeros({3}, DType::kBool))), BadInput);
}

TEST(Elementwise, FreedOperandIsNotKept) {
  const Variable weight(Zeros({2}), true);
  Variable input = Floats({1, 2}, {2});
  const Variable out = Mul(input, weight);
  // The input needs no gradient, so only it is kept: changing the weight is allowed.
  Variable(weight).mutable_data().mutable_data<float>()[0] = 3;
  EXPECT_NO_THROW(Backward({out}, {Full({2}, 1)}));
}

}  // namespace
}  // namespace torus::ops
