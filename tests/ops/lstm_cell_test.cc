#include "ops/recurrent/lstm_cell.h"

#include "autograd/backward.h"
#include "ops/activation/activation.h"
#include "ops/elementwise/elementwise.h"
#include "ops/view/join.h"
#include "tests/ops/op_test.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

Variables Cell(const Variables& in) {
  const LstmCellState next = LstmCell(in[0], in[1], in[2]);
  return {next.h, next.c};
}

GRADIENT_CASE(lstm_cell, BothStates) {
  Check(Cell, {TransposedLeaf({3, 20}), RandomLeaf({3, 20}, 1), TransposedLeaf({3, 5}, 2)});
}
GRADIENT_CASE(lstm_cell, OneInputTwice) {
  Check(
      [](const Variables& in) {
        return Cell({in[0], in[0], in[1]});
      },
      {RandomLeaf({1, 4}), RandomLeaf({1, 1}, 1)});
}
GRADIENT_CASE(lstm_cell, CellStateAlone) {
  Check([](const Variables& in) { return Variables{Cell(in)[1]}; },
        {RandomLeaf({2, 8}), RandomLeaf({2, 8}, 1), RandomLeaf({2, 2}, 2)});
}
GRADIENT_CASE(lstm_cell, Empty) {
  Check(Cell, {RandomLeaf({0, 8}), RandomLeaf({0, 8}), RandomLeaf({0, 2})});
}

// What the cell is in other ops.
Variables Composed(const Variables& in) {
  const Variables of = Split(Add(in[0], in[1]), in[2].dim(1), 1);
  const Variable c = Add(Mul(Sigmoid(of[1]), in[2]), Mul(Sigmoid(of[0]), Tanh(of[2])));
  return {Mul(Sigmoid(of[3]), Tanh(c)), c};
}

// Values and gradients of the f32 vectors are those of the f64 formulas, at every vector width.
TEST(LstmCell, AgreesWithTheComposedOneOnOddShapes) {
  testing::ForEachVectorWidth([] {
    for (const int64_t hidden : {1, 3, 8, 17, 33}) {
      const Shape wide{4, 4 * hidden}, state{4, hidden};
      const auto run = [&](DType dtype, const auto& cell) {
        Variables in;
        for (uint64_t i = 0; i < 3; ++i)
          in.emplace_back(RandomLeaf(i == 2 ? state : wide, i).data().To(dtype), true);
        const Variables out = cell(in);
        Backward(out, {Full(state, 0.5, dtype), Full(state, -2, dtype)});
        std::vector<double> values;
        const auto add = [&](const Tensor& t) {
          for (const double v : ToVector<double>(t.To(DType::kF64))) values.push_back(v);
        };
        for (const Variable& y : out) add(y.data());
        for (const Variable& x : in) add(x.grad());
        return values;
      };
      const auto got = run(DType::kF32, Cell), want = run(DType::kF64, Composed);
      ASSERT_EQ(got.size(), want.size());
      // Five functions of a few ulp and as many products on the way of values up to 8.
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], want[i], testing::Tolerance(DType::kF32, 20, 8)) << hidden << ", " << i;
    }
  });
}

TEST(LstmCell, RefusesWhatDoesNotFit) {
  const Variable gates(Zeros({2, 8})), c(Zeros({2, 2}));
  EXPECT_NO_THROW(LstmCell(gates, gates, c));
  EXPECT_THROW(LstmCell(gates, gates, Variable(Zeros({2, 8}))), BadInput);
  EXPECT_THROW(LstmCell(gates, Variable(Zeros({1, 8})), c), BadInput);
  EXPECT_THROW(LstmCell(gates, gates, Variable(Zeros({2, 2}, DType::kF64))), BadInput);
}

}  // namespace
}  // namespace torus::ops
