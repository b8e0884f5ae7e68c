#include <algorithm>
#include <cmath>

#include "autograd/backward.h"
#include "ops/reduction/extremum.h"
#include "ops/reduction/logsumexp.h"
#include "ops/reduction/norm.h"
#include "ops/reduction/prod.h"
#include "ops/reduction/truth.h"
#include "ops/reduction/variance.h"
#include "tests/ops/op_test.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

using testing::Tolerance;

testing::CheckedFunction AmaxOf(const Dims& dims, bool keepdim) {
  return [=](const Variables& in) { return Variables{Amax(in[0], dims, keepdim)}; };
}
testing::CheckedFunction VarOf(const Dims& dims, double correction) {
  return [=](const Variables& in) { return Variables{Var(in[0], dims, correction)}; };
}
testing::CheckedFunction LogSumExpOf(const Dims& dims, bool keepdim) {
  return [=](const Variables& in) { return Variables{LogSumExp(in[0], dims, keepdim)}; };
}

GRADIENT_CASE(amax, All) { Check(AmaxOf({}, false), {RandomLeaf({2, 3})}); }
GRADIENT_CASE(amax, ApartDims) { Check(AmaxOf({0, 2}, false), {TransposedLeaf({2, 3, 4})}); }
GRADIENT_CASE(amax, Scalar) { Check(AmaxOf({0}, true), {RandomLeaf({})}); }
GRADIENT_CASE(amax, EmptyResult) { Check(AmaxOf({1}, true), {RandomLeaf({0, 3})}); }
GRADIENT_CASE(amin, ApartDims) {
  Check(
      [](const Variables& in) {
        return Variables{Amin(in[0], {0, 2}, true)};
      },
      {TransposedLeaf({2, 3, 4})});
}
GRADIENT_CASE(max, All) {
  Check([](const Variables& in) { return Variables{Max(in[0])}; }, {TransposedLeaf({2, 3})});
}
GRADIENT_CASE(max, Along) {
  Check([](const Variables& in) { return Variables{Max(in[0], -2, true).values}; },
        {TransposedLeaf({2, 3, 4})});
}
GRADIENT_CASE(min, All) {
  Check([](const Variables& in) { return Variables{Min(in[0])}; }, {RandomLeaf({})});
}
testing::CheckedFunction MinAlong(int64_t dim) {
  return [=](const Variables& in) { return Variables{Min(in[0], dim).values}; };
}
GRADIENT_CASE(min, Along) { Check(MinAlong(0), {RandomLeaf({2, 3})}); }
GRADIENT_CASE(min, Scalar) { Check(MinAlong(-1), {RandomLeaf({})}); }
GRADIENT_CASE(min, EmptyResult) { Check(MinAlong(1), {RandomLeaf({0, 3})}); }
testing::CheckedFunction ProdOf(const Dims& dims, bool keepdim) {
  return [=](const Variables& in) { return Variables{Prod(in[0], dims, keepdim)}; };
}
Variable WithZeros(const std::vector<double>& values, const Shape& shape) {
  return Variable(FromVector(values, shape), true);
}
GRADIENT_CASE(prod, All) { Check(ProdOf({}, false), {TransposedLeaf({2, 3})}); }
GRADIENT_CASE(prod, ApartDims) { Check(ProdOf({0, -1}, true), {TransposedLeaf({2, 3, 4})}); }
GRADIENT_CASE(prod, Scalar) { Check(ProdOf({0}, false), {RandomLeaf({})}); }
GRADIENT_CASE(prod, Empty) { Check(ProdOf({0}, false), {RandomLeaf({0, 3})}); }
GRADIENT_CASE(prod, OneZeroAndTwo) {
  Check(ProdOf({1}, false), {WithZeros({2, 0, 3, 0, 5, 0, 2, 3, 4}, {3, 3})});
}
GRADIENT_CASE(std, Dims) {
  Check(
      [](const Variables& in) {
        return Variables{Std(in[0], {0, -1}, 0.5, true)};
      },
      {TransposedLeaf({2, 3, 4})});
}
GRADIENT_CASE(std, All) {
  Check([](const Variables& in) { return Variables{Std(in[0])}; }, {TransposedLeaf({2, 3})});
}
testing::CheckedFunction NormsOf(const std::vector<double>& orders, const Dims& dims) {
  return [=](const Variables& in) {
    Variables norms;
    for (const double ord : orders) norms.push_back(VectorNorm(in[0], ord, dims, true));
    return norms;
  };
}
GRADIENT_CASE(norm, WholeOrders) {
  Check(NormsOf({0, 1, 2, 3}, {0, 2}), {TransposedLeaf({2, 3, 4})});
}
GRADIENT_CASE(norm, OtherOrders) {
  Check(NormsOf({0.5, 1.5, 2.5, -1, INFINITY, -INFINITY}, {}), {TransposedLeaf({2, 3})});
}
GRADIENT_CASE(norm, Scalar) { Check(NormsOf({2}, {}), {RandomLeaf({})}); }
GRADIENT_CASE(norm, Empty) { Check(NormsOf({0, 1, 2, 3}, {0}), {RandomLeaf({0, 3})}); }
GRADIENT_CASE(var, Dims) { Check(VarOf({1}, 1), {TransposedLeaf({2, 3, 4})}); }
GRADIENT_CASE(var, Population) { Check(VarOf({}, 0), {RandomLeaf({2, 3})}); }
GRADIENT_CASE(var, LastTwo) { Check(VarOf({-1, 1}, 0.5), {TransposedLeaf({2, 3, 4})}); }
GRADIENT_CASE(exp, LogSumExp) { Check(LogSumExpOf({0, -1}, false), {TransposedLeaf({2, 3, 4})}); }
GRADIENT_CASE(exp, LogSumExpOfScalar) { Check(LogSumExpOf({0}, true), {RandomLeaf({})}); }

TEST(Amax, TiesShareEvenly) {
  const Variable x(FromVector<double>({2, 2, 1, 2}, {4}), true);
  Backward({Amax(x)}, {Full({}, 3, DType::kF64)});
  EXPECT_EQ(ToVector<double>(x.grad()), (std::vector<double>{1, 1, 0, 1}));
}

// As in PyTorch, which divides by the count of those that equal the largest.
TEST(Amax, NaNSpreadsOverItsGroup) {
  const Variable x(FromVector<double>({NAN, 0, -1, 1, 3, 2}, {2, 3}), true);
  Backward({Amax(x, {1})}, {Full({2}, -2, DType::kF64)});
  const std::vector<double> grad = ToVector<double>(x.grad());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(grad[i])) << i;
  EXPECT_EQ(std::vector<double>(grad.begin() + 3, grad.end()), (std::vector<double>{0, -2, 0}));
}

// As torch.max and min: along a dimension the index has it all, of all elements they share it.
TEST(Extremum, GradientsOfEqualElements) {
  const Variable x(FromVector<double>({2, 2, NAN, NAN, 1, 1}, {3, 2}), true);
  const ValuesAndIndices most = Max(x, 1), least = Min(x, 1);
  EXPECT_EQ(ToVector<int64_t>(most.indices.data()), (std::vector<int64_t>{0, 0, 0}));
  Backward({most.values, least.values}, {Full({3}, 3, DType::kF64), Full({3}, 1, DType::kF64)});
  EXPECT_EQ(ToVector<double>(x.grad()), (std::vector<double>{4, 0, 4, 0, 4, 0}));
  const Variable y(FromVector<double>({NAN, 5, NAN}, {3}), true);
  Backward({Max(y)}, {Full({}, 3, DType::kF64)});
  EXPECT_EQ(ToVector<double>(y.grad()), (std::vector<double>{1.5, 0, 1.5}));
}

TEST(Extremum, Smallest) {
  const Tensor x = FromVector<float>({1, 3, 1, 0, NAN, 9}, {2, 3});
  EXPECT_EQ(ToVector<int64_t>(Argmin(x, 1)), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(Argmin(x).Item(), 4);
  EXPECT_EQ(ToVector<float>(Amin(Variable(x), {0}).data())[0], 0);
  EXPECT_TRUE(std::isnan(Min(Variable(x)).data().Item()));
}

// Exact beyond 2^53, and in the dtype that PyTorch gives.
TEST(Integers, AreReduced) {
  const int64_t big = (int64_t{1} << 60) + 1;
  const Variable x(FromVector<int64_t>({big, big - 1, -3, 2, 5, 7}, {2, 3}));
  EXPECT_EQ(ToVector<int64_t>(Amax(x, {1}).data()), (std::vector<int64_t>{big, 7}));
  EXPECT_EQ(ToVector<int64_t>(Max(x, 1).indices.data()), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(ToVector<int64_t>(Argmin(x.data(), 0)), (std::vector<int64_t>{1, 1, 0}));
  EXPECT_EQ(ToVector<int64_t>(Prod(x, {1}).data()),
            (std::vector<int64_t>{-3 * ((int64_t{1} << 60)), 70}));
  const Variable bytes(x.data().Narrow(0, 1, 1).To(DType::kU8));
  EXPECT_EQ(Prod(bytes).dtype(), DType::kI64);
  EXPECT_EQ(Amin(bytes).dtype(), DType::kU8);
  EXPECT_EQ(Amin(bytes).data().Item(), 2);
  const Variable bits(FromVector<int64_t>({1, 0}, {2}).To(DType::kBool));
  EXPECT_EQ(Max(bits).dtype(), DType::kBool);
  EXPECT_EQ(Prod(bits).data().Item(), 0);
  EXPECT_THROW(Argmax(bits.data()), BadInput);
}

TEST(Prod, Values) {
  EXPECT_EQ(Prod(Variable(Zeros({0}))).data().Item(), 1);
  EXPECT_EQ(ToVector<float>(Prod(Variable(Zeros({2, 0})), {1}).data()), (std::vector<float>{1, 1}));
  // The running product is f64: neither end of f32 is met on the way.
  EXPECT_EQ(Prod(Variable(FromVector<float>({1e30f, 1e30f, 1e-30f, 1e-30f}, {4}))).data().Item(),
            1);
}

// As torch.std and its gradient.
TEST(Std, OfEqualElementsHasNoGradient) {
  const Variable x(FromVector<double>({3, 3, 1, 3}, {2, 2}), true);
  const Variable y = Std(x, {1});
  EXPECT_EQ(ToVector<double>(y.data()), (std::vector<double>{0, std::sqrt(2.0)}));
  Backward({y}, {Full({2}, 1, DType::kF64)});
  const std::vector<double> grad = ToVector<double>(x.grad());
  EXPECT_EQ(grad[0], 0);
  // A difference from the mean of two, over a root.
  EXPECT_NEAR(grad[3], std::sqrt(0.5), Tolerance(DType::kF64, 2, std::sqrt(0.5)));
}

TEST(VectorNorm, Values) {
  const Variable x(FromVector<double>({3, -4, 0, 0}, {2, 2}), true);
  const auto of = [&](double ord) { return ToVector<double>(VectorNorm(x, ord, {1}).data()); };
  EXPECT_EQ(of(0), (std::vector<double>{2, 0}));
  EXPECT_EQ(of(1), (std::vector<double>{7, 0}));
  EXPECT_EQ(of(2), (std::vector<double>{5, 0}));
  EXPECT_EQ(of(INFINITY), (std::vector<double>{4, 0}));
  EXPECT_EQ(of(-INFINITY), (std::vector<double>{3, 0}));
  EXPECT_NEAR(of(3)[0], std::cbrt(91.0), Tolerance(DType::kF64, 2, std::cbrt(91.0)));
  Backward({VectorNorm(x, 2, {1})}, {Full({2}, 5, DType::kF64)});
  EXPECT_EQ(ToVector<double>(x.grad()), (std::vector<double>{3, -4, 0, 0}));
}

TEST(Truth, OverDimensions) {
  const Variable x(FromVector<float>({0, NAN, 0, 0, 2, -1}, {3, 2}));
  const auto truths = [](const Variable& v) { return ToVector<bool>(v.data()); };
  EXPECT_EQ(truths(Any(x, {1})), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(truths(All(x, {1}, true)), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(ToVector<int64_t>(CountNonzero(x, {0}).data()), (std::vector<int64_t>{1, 2}));
  const Variable none(Zeros({0}));
  EXPECT_FALSE(truths(Any(none))[0]);
  EXPECT_TRUE(truths(All(none))[0]);
  EXPECT_EQ(Any(Variable(Zeros({2}, DType::kU8))).dtype(), DType::kU8);
}

TEST(Argmax, FirstOfEqualsAndNaN) {
  const Tensor x = FromVector<float>({1, 3, 3, 0, NAN, 9}, {2, 3});
  EXPECT_EQ(ToVector<int64_t>(Argmax(x, 1)), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(ToVector<int64_t>(Argmax(x, 0)), (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(Argmax(x).Item(), 4);
  EXPECT_EQ(Argmax(x, 1, true).shape(), Shape({2, 1}));
  EXPECT_EQ(Argmax(Zeros({})).Item(), 0);
  EXPECT_TRUE(std::isnan(Amax(Variable(x)).data().Item()));
}

TEST(Var, Values) {
  const Variable x(FromVector<double>({1, 2, 3, 6}, {4}));
  EXPECT_NEAR(Var(x).data().Item(), 14.0 / 3, Tolerance(DType::kF64, 4, 14.0 / 3));
  EXPECT_NEAR(Var(x, {}, 0).data().Item(), 3.5, Tolerance(DType::kF64, 4, 3.5));
  EXPECT_TRUE(std::isnan(Var(Variable(Zeros({1}))).data().Item()));
}

// What no correction leaves freedom for: values and gradients of torch.var on a CPU and on CUDA.
TEST(Var, ACorrectionOfTheCountOrMore) {
  const auto of = [](const std::vector<double>& v, const Dims& dims, double correction) {
    const Variable x(FromVector(v, {std::ssize(v)}), true);
    const Variable y = Var(x, dims, correction);
    Backward({y}, {Full({}, 3, DType::kF64)});
    std::vector<double> all = ToVector<double>(x.grad());
    all.insert(all.begin(), y.data().Item());
    return all;
  };
  const auto isnan = [](double v) { return std::isnan(v); };
  for (const double correction : {3.0, 4.0}) {
    const std::vector<double> all = of({1, 2, 3}, {}, correction);
    EXPECT_EQ(all[0], INFINITY);
    EXPECT_EQ(all[1], INFINITY);
    EXPECT_TRUE(isnan(all[2]));
    EXPECT_EQ(all[3], INFINITY);
  }
  const std::vector<double> exact = of({1, 2, 3}, {0}, 3);
  EXPECT_EQ(exact[0], INFINITY);
  EXPECT_EQ(exact[1], -INFINITY);
  EXPECT_TRUE(isnan(exact[2]));
  EXPECT_EQ(exact[3], INFINITY);
  EXPECT_EQ(of({1, 2, 3}, {0}, 5), (std::vector<double>{INFINITY, 3, 0, -3}));
  const std::vector<double> equal = of({2, 2}, {}, 2);
  EXPECT_EQ(std::ranges::count_if(equal, isnan), 3);
}

TEST(LogSumExp, StaysFiniteFarOut) {
  const auto of = [](const std::vector<double>& v) {
    return LogSumExp(Variable(FromVector(v, {static_cast<int64_t>(v.size())})), {0}).data().Item();
  };
  EXPECT_EQ(of({1000, 1000}), 1000 + std::log(2.0));
  EXPECT_EQ(of({-INFINITY, -INFINITY}), -INFINITY);
  EXPECT_EQ(of({INFINITY, 0}), INFINITY);
  EXPECT_EQ(of({}), -INFINITY);
}

TEST(Statistics, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Amax(Variable(Zeros({2, 0})), {1}), BadInput);
  EXPECT_THROW(Argmax(Zeros({0})), BadInput);
  EXPECT_THROW(Amax(Variable(Zeros({2})), {1}), BadInput);
  EXPECT_THROW(Max(Variable(Zeros({2, 0})), 1), BadInput);
  EXPECT_THROW(Min(Variable(Zeros({0}))), BadInput);
  EXPECT_THROW(VectorNorm(Variable(Zeros({0})), INFINITY), BadInput);
  EXPECT_THROW(VectorNorm(Variable(Zeros({0})), -1), BadInput);
  EXPECT_THROW(VectorNorm(Variable(Zeros({2})), NAN), BadInput);
  EXPECT_THROW(VectorNorm(Variable(Zeros({2}, DType::kI64))), BadInput);
  EXPECT_THROW(Std(Variable(Zeros({2}, DType::kI64))), BadInput);
  EXPECT_THROW(LogSumExp(Variable(Zeros({2}, DType::kI64)), {0}), BadInput);
}

}  // namespace
}  // namespace torus::ops
