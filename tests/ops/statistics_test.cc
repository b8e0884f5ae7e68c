#include <algorithm>
#include <cmath>

#include "autograd/backward.h"
#include "ops/reduction/extremum.h"
#include "ops/reduction/logsumexp.h"
#include "ops/reduction/variance.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

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
  EXPECT_NEAR(Var(x).data().Item(), 14.0 / 3, 1e-15);
  EXPECT_NEAR(Var(x, {}, 0).data().Item(), 3.5, 1e-15);
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
  EXPECT_THROW(LogSumExp(Variable(Zeros({2}, DType::kI64)), {0}), BadInput);
}

}  // namespace
}  // namespace torus::ops
