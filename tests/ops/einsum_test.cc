#include "ops/einsum/einsum.h"

#include <string>

#include "ops/einsum/equation.h"
#include "ops/elementwise/elementwise.h"
#include "ops/matmul/matmul.h"
#include "ops/reduction/reduction.h"
#include "ops/view/view.h"
#include "tests/ops/op_test.h"
#include "tests/testing/error_of.h"

namespace torus::ops {
namespace {

testing::CheckedFunction EinsumOf(const std::string& equation) {
  return [=](const Variables& in) { return Variables{Einsum(equation, in)}; };
}

GRADIENT_CASE(matmul, OfAnEquation) {
  Check(EinsumOf("bij,bkj->kbi"), {TransposedLeaf({2, 3, 4}), RandomLeaf({2, 5, 4}, 1)});
}
GRADIENT_CASE(matmul, OfThreeOperands) {
  Check(EinsumOf("ij,jk,ki->i"),
        {RandomLeaf({2, 3}), TransposedLeaf({3, 4}, 1), RandomLeaf({4, 2}, 2)});
}
GRADIENT_CASE(matmul, OfAnEllipsis) {
  Check(EinsumOf("...ij,...j"), {RandomLeaf({2, 1, 3, 4}), RandomLeaf({5, 4}, 1)});
}
GRADIENT_CASE(mul, OfAnEquation) {
  Check(EinsumOf("i,j->ji"), {RandomLeaf({2}), RandomLeaf({3}, 1)});
}
GRADIENT_CASE(mul, OfSizesThatBroadcast) {
  Check(EinsumOf("ij,ij->j"), {RandomLeaf({1, 3}), RandomLeaf({4, 3}, 1)});
}
GRADIENT_CASE(diagonal, OfAnEquation) { Check(EinsumOf("iji->j"), {RandomLeaf({3, 2, 3})}); }
GRADIENT_CASE(matmul, Tensordot) {
  Check(
      [](const Variables& in) {
        return Variables{Tensordot(in[0], in[1], {0, -1}, {1, 2}), Tensordot(in[0], in[1], 0),
                         Outer(Flatten(in[0]), Flatten(in[1]))};
      },
      {TransposedLeaf({2, 3, 4}), RandomLeaf({3, 2, 4}, 1)});
}

TEST(Einsum, Values) {
  const Variable a = Counted({2, 3}), b = Counted({3, 2}), square = Counted({3, 3});
  EXPECT_EQ(Values(Einsum("ij,jk->ik", {a, b})), Values(Matmul(a, b)));
  EXPECT_EQ(Values(Einsum("ij,jk", {a, b})), Values(Matmul(a, b)));
  EXPECT_EQ(Values(Einsum("ba", {a})), Values(Transpose(a, 0, 1)));  // alphabetical
  EXPECT_EQ(Values(Einsum("aB", {a})), Values(Transpose(a, 0, 1)));  // capitals first
  EXPECT_EQ(Values(Einsum("ii", {square})), (Floats{12}));
  EXPECT_EQ(Values(Einsum(" i i -> i", {square})), (Floats{0, 4, 8}));
  EXPECT_EQ(Values(Einsum("ij->", {a})), (Floats{15}));
  EXPECT_EQ(Values(Einsum("...j->...", {a})), (Floats{3, 12}));
  EXPECT_EQ(Values(Einsum("i...->i", {a})), (Floats{3, 12}));
  EXPECT_EQ(Values(Einsum("ij,ij->ij", {a, a})), Values(Mul(a, a)));
  EXPECT_EQ(Values(Einsum(",i->i", {Variable(Full({}, 2)), Counted({3})})), (Floats{0, 2, 4}));
  EXPECT_EQ(Einsum("ij,jk->ik", {Counted({2, 0}), Counted({0, 3})}).shape(), Shape({2, 3}));
  EXPECT_EQ(Einsum("b...d,...de->b...e", {Counted({2, 5, 3}), Counted({1, 3, 4})}).shape(),
            Shape({2, 5, 4}));
  EXPECT_EQ(Values(Tensordot(a, a)), (Floats{55}));
  EXPECT_EQ(Values(Outer(Counted({2}), Counted({3}))), (Floats{0, 0, 0, 0, 1, 2}));
}

TEST(Einsum, ReadsEquations) {
  const std::vector<int> ranks{3, 2};
  const EinsumLabels labels = ReadEquation("a...,...b->b...", ranks);
  EXPECT_EQ(labels.operands[0], (std::vector<int>{26, 52, 53}));
  EXPECT_EQ(labels.operands[1], (std::vector<int>{53, 27}));
  EXPECT_EQ(labels.result, (std::vector<int>{27, 52, 53}));
}

TEST(Einsum, OfIntegersSumsNoProducts) {
  const Variable a(Arange(4).View({2, 2})), v(Arange(2));
  EXPECT_EQ(Values<int64_t>(Einsum("ij->ji", {a})), (std::vector<int64_t>{0, 2, 1, 3}));
  EXPECT_EQ(Values<int64_t>(Einsum("ii", {a})), std::vector<int64_t>{3});
  EXPECT_EQ(Values<int64_t>(Einsum("i,j->ij", {v, v})), (std::vector<int64_t>{0, 0, 0, 1}));
  const std::string rest =
      "sums products of floating types alone, got i64 (2, 2) on cpu and i64 (2, 2) on cpu; Cast "
      "the integers";
  EXPECT_EQ(testing::ErrorOf([&] { Einsum("ij,jk->ik", {a, a}); }), "[einsum] " + rest);
  EXPECT_EQ(testing::ErrorOf([&] { Tensordot(a, a, 1); }), "[tensordot] " + rest);
}

// What is summed is i64, and so is what it is multiplied by.
TEST(Einsum, OfNarrowIntegersSumsToI64) {
  const auto of = [](int64_t count, DType dtype) { return Variable(Arange(count).To(dtype)); };
  for (const DType dtype : {DType::kI32, DType::kU8}) {
    const Variable v = of(2, dtype), w = of(3, dtype);
    const Variable a(Arange(6).To(dtype).View({2, 3}));
    const auto values = [](const Variable& x) { return ToVector<int64_t>(x.data().Contiguous()); };
    EXPECT_EQ(values(Einsum("ij,j->j", {a, w})), (std::vector<int64_t>{0, 5, 14}));
    EXPECT_EQ(values(Einsum("j,ij->j", {w, a})), (std::vector<int64_t>{0, 5, 14}));
    EXPECT_EQ(values(Einsum("i,j->", {v, w})), std::vector<int64_t>{3});
    EXPECT_EQ(values(Einsum("ij,k,k->k", {a, v, v})), (std::vector<int64_t>{0, 15}));
    EXPECT_EQ(Einsum("i,j->ij", {v, w}).dtype(), dtype) << "nothing is summed";
    const std::string vector = std::string(Name(dtype)) + " (2) on cpu";
    EXPECT_EQ(testing::ErrorOf([&] {
                Einsum("i,i->", {v, v});
              }),
              "[einsum] sums products of floating types alone, got " + vector + " and " + vector +
                  "; Cast the integers");
  }
}

TEST(Einsum, RefusesTypesThatDiffer) {
  const Variable narrow(Arange(3).To(DType::kI32)), wide(Arange(3)), real = Counted({2, 3});
  EXPECT_EQ(testing::ErrorOf([&] {
              Einsum("i,i->i", {narrow, wide});
            }),
            "[einsum] dtypes differ: i32 (3) on cpu and i64 (3) on cpu");
  EXPECT_EQ(testing::ErrorOf([&] {
              Einsum("ij,j->j", {real, wide});
            }),
            "[einsum] dtypes differ: f32 (2, 3) on cpu and i64 (3) on cpu");
}

TEST(Einsum, RefusesWhatDoesNotFit) {
  const Variable a = Counted({2, 3}), b = Counted({3, 2});
  EXPECT_EQ(testing::ErrorOf([&] { Einsum("ij,jk->ik", {a}); }),
            "[einsum] 'ij,jk->ik' has 2 operands, got 1");
  EXPECT_THROW(Einsum("i", {}), BadInput);
  EXPECT_THROW(Einsum("i", {a}), BadInput);
  EXPECT_THROW(Einsum("ijk...", {a}), BadInput);
  EXPECT_THROW(Einsum("i1", {a}), BadInput);
  EXPECT_THROW(Einsum("i..", {a}), BadInput);
  EXPECT_THROW(Einsum("......", {a}), BadInput);
  EXPECT_THROW(Einsum("ij->k", {a}), BadInput);
  EXPECT_THROW(Einsum("ij->ii", {a}), BadInput);
  EXPECT_THROW(Einsum("ii", {a}), BadInput);
  EXPECT_THROW(Einsum("ij,ji", {a, a}), BadInput);
  EXPECT_THROW(Tensordot(a, b), BadInput);
  EXPECT_THROW(Tensordot(a, a, 3), BadInput);
  EXPECT_THROW(Tensordot(a, a, {0, 0}, {0, 1}), BadInput);
  EXPECT_THROW(Outer(a, a), BadInput);
}

}  // namespace
}  // namespace torus::ops
