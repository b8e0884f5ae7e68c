#include "ops/reduction/cumsum.h"

#include "runtime/parallel_for.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

testing::CheckedFunction CumsumOf(int64_t dim) {
  return [dim](const Variables& in) { return Variables{Cumsum(in[0], dim)}; };
}

GRADIENT_CASE(cumsum, First) { Check(CumsumOf(0), {RandomLeaf({5, 3})}); }
GRADIENT_CASE(cumsum, Last) { Check(CumsumOf(-1), {TransposedLeaf({2, 3, 4})}); }
GRADIENT_CASE(cumsum, Wide) { Check(CumsumOf(1), {RandomLeaf({2, 3, 67})}); }
GRADIENT_CASE(cumsum, SizeOne) { Check(CumsumOf(1), {RandomLeaf({3, 1})}); }
GRADIENT_CASE(cumsum, Scalar) { Check(CumsumOf(0), {RandomLeaf({})}); }
GRADIENT_CASE(cumsum, Empty) { Check(CumsumOf(1), {RandomLeaf({0, 3})}); }
GRADIENT_CASE(cumsum, Twice) {
  Check([](const Variables& in) { return Variables{Cumsum(Cumsum(in[0], 0), 1)}; },
        {RandomLeaf({3, 4})});
}

TEST(Cumsum, AddsAlongEachDimension) {
  const Variable x(Arange(6, DType::kF32).View({2, 3}));
  EXPECT_EQ(ToVector<float>(Cumsum(x, 0).data()), (std::vector<float>{0, 1, 2, 3, 5, 7}));
  EXPECT_EQ(ToVector<float>(Cumsum(x, 1).data()), (std::vector<float>{0, 1, 3, 3, 7, 12}));
}

// 2^24 + 1 is the first whole number that a float cannot count to by ones.
TEST(Cumsum, StaysExactOverManyOnes) {
  const int64_t n = (1 << 24) + 5;
  EXPECT_EQ(Cumsum(Variable(Full({n}, 1)), 0).data().Select(0, n - 1).Item(),
            static_cast<float>(n));
}

TEST(Cumsum, BitsDoNotDependOnThreads) {
  const int before = TeamSize();
  const Variable x(RandomLeaf({301, 130}).data().To(DType::kF32));
  SetTeamSize(1);
  const auto one = ToVector<float>(Cumsum(x, 0).data());
  SetTeamSize(3);
  EXPECT_EQ(ToVector<float>(Cumsum(x, 0).data()), one);
  SetTeamSize(before);
}

TEST(Cumsum, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Cumsum(Variable(Zeros({2, 3})), 2), BadInput);
  EXPECT_THROW(Cumsum(Variable(Zeros({2}, DType::kI64)), 1), BadInput);
}

TEST(Cumsum, OfIntegersIsExactAndWide) {
  const int64_t big = (int64_t{1} << 60) + 1;
  const Variable x(FromVector<int64_t>({big, 1, -2}, {3}));
  EXPECT_EQ(ToVector<int64_t>(Cumsum(x, 0).data()), (std::vector<int64_t>{big, big + 1, big - 1}));
  EXPECT_EQ(Cumsum(Variable(Zeros({2}, DType::kBool)), 0).dtype(), DType::kI64);
}

}  // namespace
}  // namespace torus::ops
