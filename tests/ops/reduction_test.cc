#include "ops/reduction/reduction.h"

#include "ops/sum/reduction_shape.h"
#include "ops/sum/sum.h"
#include "runtime/parallel_for.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

testing::CheckedFunction SumFunction(const Dims& dims, bool keepdim) {
  return [=](const Variables& in) { return Variables{Sum(in[0], dims, keepdim)}; };
}
testing::CheckedFunction MeanFunction(const Dims& dims, bool keepdim) {
  return [=](const Variables& in) { return Variables{Mean(in[0], dims, keepdim)}; };
}

GRADIENT_CASE(sum, All) { Check(SumFunction({}, false), {RandomLeaf({2, 3})}); }
GRADIENT_CASE(sum, Scalar) { Check(SumFunction({0}, true), {RandomLeaf({})}); }
GRADIENT_CASE(sum, ApartDims) { Check(SumFunction({0, -1}, false), {TransposedLeaf({2, 3, 4})}); }
GRADIENT_CASE(sum, Middle) { Check(SumFunction({1}, true), {RandomLeaf({2, 3, 4})}); }
GRADIENT_CASE(sum, Empty) { Check(SumFunction({0}, false), {RandomLeaf({0, 3})}); }
GRADIENT_CASE(mean, All) { Check(MeanFunction({}, true), {TransposedLeaf({2, 3})}); }
GRADIENT_CASE(mean, Pixels) { Check(MeanFunction({1, 2}, false), {RandomLeaf({2, 3, 1, 4})}); }
GRADIENT_CASE(mean, SizeOne) { Check(MeanFunction({1}, false), {RandomLeaf({2, 1})}); }

TEST(ReductionShape, NamesDimensions) {
  EXPECT_EQ(ReducedDims("sum", {}, 3), Dims({0, 1, 2}));
  EXPECT_EQ(ReducedDims("sum", {-1, 0}, 3), Dims({0, 2}));
  EXPECT_EQ(ReducedDims("sum", {0}, 0), Dims());
  EXPECT_EQ(ReducedShape({2, 3, 4}, {0, 2}, false), Shape({3}));
  EXPECT_EQ(ReducedShape({2, 3, 4}, {0, 2}, true), Shape({1, 3, 1}));
  EXPECT_EQ(ReducedCount({2, 3, 4}, {0, 2}), 8);
  EXPECT_THROW(ReducedDims("sum", {3}, 3), BadInput);
  EXPECT_THROW(ReducedDims("sum", {1, -2}, 3), BadInput);
}

TEST(Sum, AddsEveryLayout) {
  const Variable a(Arange(24, DType::kF32).View({2, 3, 4}));
  EXPECT_EQ(Sum(a).data().Item(), 276);
  EXPECT_EQ(ToVector<float>(Sum(a, {2}).data()), (std::vector<float>{6, 22, 38, 54, 70, 86}));
  EXPECT_EQ(ToVector<float>(Sum(a, {0, 2}).data()), (std::vector<float>{60, 92, 124}));
  EXPECT_EQ(ToVector<float>(Sum(a, {1}).data()),
            (std::vector<float>{12, 15, 18, 21, 48, 51, 54, 57}));
  EXPECT_EQ(Sum(a, {1}, true).shape(), Shape({2, 1, 4}));
}

TEST(Sum, OfNothing) {
  EXPECT_EQ(Sum(Variable(Zeros({0, 3}))).data().Item(), 0);
  EXPECT_EQ(ToVector<float>(Sum(Variable(Zeros({2, 0})), {1}).data()), (std::vector<float>{0, 0}));
  EXPECT_EQ(Sum(Variable(Zeros({2, 0})), {0}).shape(), Shape({0}));
  EXPECT_TRUE(std::isnan(Mean(Variable(Zeros({0}))).data().Item()));
  for (const Shape& shape : {Shape{0, 2, 3}, Shape{3, 2, 0}})
    for (float mean : ToVector<float>(Mean(Variable(Zeros(shape)), {0, 2}).data()))
      EXPECT_TRUE(std::isnan(mean)) << ToString(shape);
}

// 2^24 + 1 is the first whole number that a float cannot count to by ones.
TEST(Sum, StaysExactOverManyOnes) {
  const int64_t n = (1 << 24) + 5;
  EXPECT_EQ(Sum(Variable(Full({n}, 1))).data().Item(), static_cast<float>(n));
  EXPECT_EQ(SumOver("sum", Full({n / 2, 2}, 1), {0}, false).Select(0, 1).Item(),
            static_cast<float>(n / 2));
}

TEST(Sum, BitsDoNotDependOnThreads) {
  const int before = TeamSize();
  for (const Shape& shape : {Shape{100003}, Shape{3, 40001}, Shape{30011, 7}, Shape{300, 301}}) {
    Tensor in(shape, DType::kF32);
    float* p = in.mutable_data<float>();
    for (int64_t i = 0; i < in.numel(); ++i)
      p[i] = static_cast<float>((i * 2654435761) % 1009) * 0.1f;
    SetTeamSize(1);
    const auto one = ToVector<float>(SumOver("sum", in, {0}, false));
    SetTeamSize(3);
    EXPECT_EQ(ToVector<float>(SumOver("sum", in, {0}, false)), one) << ToString(shape);
  }
  SetTeamSize(before);
}

TEST(SumTo, UndoesBroadcasting) {
  const Tensor grad = Full({2, 3, 4}, 1);
  EXPECT_EQ(SumTo(grad, {2, 3, 4}).raw(), grad.raw());
  EXPECT_EQ(ToVector<float>(SumTo(grad, {3, 1})), (std::vector<float>{8, 8, 8}));
  EXPECT_EQ(SumTo(grad, {}).Item(), 24);
  EXPECT_EQ(SumTo(Full({1, 1, 3}, 1), {3}).shape(), Shape({3}));
}

TEST(Sum, OfIntegersIsExactAndWide) {
  const int64_t big = (int64_t{1} << 60) + 1;
  const Variable x(FromVector<int64_t>({big, big, -1, 5, 6, 7}, {2, 3}));
  EXPECT_EQ(ToVector<int64_t>(Sum(x, {1}).data()), (std::vector<int64_t>{2 * big - 1, 18}));
  EXPECT_EQ(ToVector<int64_t>(Sum(x, {0}).data()), (std::vector<int64_t>{big + 5, big + 6, 6}));
  const Variable most(Full({3}, INT32_MAX, DType::kI32)), bits(Full({70000}, 1, DType::kBool));
  EXPECT_EQ(ToVector<int64_t>(Sum(most).data())[0], int64_t{3} * INT32_MAX);
  EXPECT_EQ(Sum(bits).dtype(), DType::kI64);
  EXPECT_EQ(Sum(bits).data().Item(), 70000);
  EXPECT_EQ(Sum(Variable(Zeros({0}, DType::kI64))).data().Item(), 0);
}

TEST(Mean, RefusesWholeNumbers) { EXPECT_THROW(Mean(Variable(Zeros({2}, DType::kI64))), BadInput); }

}  // namespace
}  // namespace torus::ops
