#include "ops/softmax/softmax.h"

#include <cmath>

#include "ops/elementwise/elementwise.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

testing::CheckedFunction SoftmaxAlong(int64_t dim) {
  return [dim](const Variables& in) { return Variables{Softmax(in[0], dim)}; };
}
testing::CheckedFunction LogSoftmaxAlong(int64_t dim) {
  return [dim](const Variables& in) { return Variables{LogSoftmax(in[0], dim)}; };
}

GRADIENT_CASE(softmax, Last) { Check(SoftmaxAlong(-1), {RandomLeaf({3, 17})}); }
GRADIENT_CASE(softmax, Middle) { Check(SoftmaxAlong(1), {TransposedLeaf({2, 3, 4})}); }
GRADIENT_CASE(softmax, Scalar) { Check(SoftmaxAlong(0), {RandomLeaf({})}); }
GRADIENT_CASE(softmax, Empty) { Check(SoftmaxAlong(1), {RandomLeaf({2, 0})}); }
GRADIENT_CASE(softmax, TwiceUsed) {
  Check([](const Variables& in) { return Variables{Mul(Softmax(in[0], 0), in[0])}; },
        {RandomLeaf({4})});
}
GRADIENT_CASE(log_softmax, First) { Check(LogSoftmaxAlong(0), {TransposedLeaf({5, 3})}); }
GRADIENT_CASE(log_softmax, SizeOne) { Check(LogSoftmaxAlong(1), {RandomLeaf({3, 1})}); }
GRADIENT_CASE(log_softmax, EmptyBatch) { Check(LogSoftmaxAlong(-1), {RandomLeaf({0, 3})}); }

TEST(Softmax, StaysFiniteFarOut) {
  const Variable x(FromVector<float>({1000, 1000, -1000}, {3}));
  EXPECT_EQ(ToVector<float>(Softmax(x, 0).data()), (std::vector<float>{0.5, 0.5, 0}));
  EXPECT_FLOAT_EQ(ToVector<float>(LogSoftmax(x, 0).data())[0], -std::log(2.0f));
  EXPECT_FLOAT_EQ(ToVector<float>(LogSoftmax(x, 0).data())[2], -2000 - std::log(2.0f));
}

TEST(Softmax, MasksByMinusInfinity) {
  const Variable x(FromVector<float>({0, -INFINITY}, {2}));
  EXPECT_EQ(ToVector<float>(Softmax(x, 0).data()), (std::vector<float>{1, 0}));
  const Variable none(FromVector<float>({-INFINITY, -INFINITY}, {2}));
  EXPECT_TRUE(std::isnan(ToVector<float>(Softmax(none, 0).data())[0]));
}

TEST(Softmax, NotANumberTakesItsRowOnly) {
  const Variable x(FromVector<float>({0, NAN, 1, 1}, {2, 2}));
  const auto y = ToVector<float>(Softmax(x, 1).data());
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  EXPECT_EQ(y[2], 0.5f);
}

TEST(Softmax, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Softmax(Variable(Zeros({2, 2})), 2), BadInput);
  EXPECT_THROW(LogSoftmax(Variable(Zeros({2}, DType::kI64)), 0), BadInput);
}

}  // namespace
}  // namespace torus::ops
