#include "ops/view/join.h"

#include "autograd/backward.h"
#include "ops/view/view_shape.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

testing::CheckedFunction CatAlong(int64_t dim) {
  return [dim](const Variables& in) { return Variables{Cat(in, dim)}; };
}

GRADIENT_CASE(cat, Rows) { Check(CatAlong(0), {RandomLeaf({1, 3}), TransposedLeaf({2, 3}, 1)}); }
GRADIENT_CASE(cat, Columns) {
  Check(CatAlong(-1), {RandomLeaf({2, 3}), RandomLeaf({2, 0}, 1), RandomLeaf({2, 1}, 2)});
}
GRADIENT_CASE(cat, Blank) { Check(CatAlong(1), {RandomLeaf({0}), RandomLeaf({2, 3}, 1)}); }
GRADIENT_CASE(cat, BlankAlone) { Check(CatAlong(1), {RandomLeaf({0}), RandomLeaf({0}, 1)}); }
GRADIENT_CASE(cat, OneInputTwice) {
  Check(
      [](const Variables& in) {
        return Variables{Cat({in[0], in[0]}, 1)};
      },
      {RandomLeaf({2, 2})});
}
GRADIENT_CASE(cat, Stacked) {
  Check([](const Variables& in) { return Variables{Stack(in, -1)}; },
        {RandomLeaf({2, 3}), TransposedLeaf({2, 3}, 1)});
}
GRADIENT_CASE(split, Uneven) {
  Check([](const Variables& in) { return Split(in[0], 2, 1); }, {TransposedLeaf({2, 5})});
}
GRADIENT_CASE(split, Sizes) {
  Check(
      [](const Variables& in) {
        return Split(in[0], std::vector<int64_t>{1, 0, 2}, 0);
      },
      {RandomLeaf({3, 2})});
}
GRADIENT_CASE(split, Empty) {
  Check([](const Variables& in) { return Split(in[0], 2, 0); }, {RandomLeaf({0, 2})});
}

TEST(Split, UnusedPiecesGetZero) {
  const Variable x(Zeros({3}), true);
  Backward({Split(x, 1, 0)[1]}, {Full({1}, 5)});
  EXPECT_EQ(ToVector<float>(x.grad()), (std::vector<float>{0, 5, 0}));
}

TEST(Join, Values) {
  const Variable a(FromVector<float>({1, 2}, {1, 2})), b(FromVector<float>({3, 4}, {1, 2}));
  EXPECT_EQ(ToVector<float>(Cat({a, b}, 0).data()), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(ToVector<float>(Stack({a, b}, 2).data()), (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(Stack({a, b}, 1).shape(), Shape({1, 2, 2}));
  for (const int64_t dim : {0, 1, -9})
    EXPECT_EQ(Cat({Variable(Zeros({0})), Variable(Zeros({0}))}, dim).shape(), Shape({0}));
}

TEST(Join, SplitsBeyondTheMostDimensions) {
  EXPECT_EQ(Split(Variable(Arange(40)), 1).size(), 40u);
  EXPECT_EQ(SplitSizes(5, 2), (std::vector<int64_t>{2, 2, 1}));
  EXPECT_EQ(SplitSizes(0, 0), (std::vector<int64_t>{0}));
}

TEST(Join, RefusesWhatDoesNotFit) {
  const Variable a(Zeros({2, 3}));
  EXPECT_THROW(Cat({}), BadInput);
  EXPECT_THROW(Cat({a, Variable(Zeros({2, 4}))}, 0), BadInput);
  EXPECT_THROW(Cat({a, Variable(Zeros({2}))}, 0), BadInput);
  EXPECT_THROW(Cat({a, Variable(Zeros({2, 3}, DType::kF64))}, 0), BadInput);
  EXPECT_THROW(Cat({Variable(Zeros({}))}), BadInput);
  EXPECT_THROW(Stack({a, Variable(Zeros({3, 2}))}), BadInput);
  EXPECT_THROW(Split(a, 0), BadInput);
  EXPECT_THROW(Split(a, std::vector<int64_t>{1, 2}), BadInput);
  EXPECT_THROW(Split(a, std::vector<int64_t>{3, -1}), BadInput);
}

}  // namespace
}  // namespace torus::ops
