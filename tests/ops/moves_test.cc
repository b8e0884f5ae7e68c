// What puts elements in other places: padding, reversal, rotation, repetition, diagonals, pieces.
#include "ops/elementwise/elementwise.h"
#include "ops/pad/pad.h"
#include "ops/view/diagonal.h"
#include "ops/view/join.h"
#include "ops/view/order.h"
#include "ops/view/repeat.h"
#include "ops/view/view.h"
#include "ops/view/view_shape.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

GRADIENT_CASE(flip, Strided) {
  Check(Of([](const Variable& x) { return Flip(x, {-1, 0}); }), {TransposedLeaf({2, 3})});
}
GRADIENT_CASE(flip, TwiceUsed) {
  Check(Of([](const Variable& x) { return Mul(Flip(x, {0}), x); }), {RandomLeaf({3})});
}
GRADIENT_CASE(flip, Empty) {
  Check(Of([](const Variable& x) { return Flip(x, {1}); }), {RandomLeaf({2, 0})});
}
GRADIENT_CASE(flip, Scalar) {
  Check(Of([](const Variable& x) { return Flip(x, {}); }), {RandomLeaf({})});
}
GRADIENT_CASE(roll, TwoDimensions) {
  Check(Of([](const Variable& x) { return Roll(x, {1, -4}, {-1, 0}); }), {TransposedLeaf({3, 4})});
}
GRADIENT_CASE(roll, Flattened) {
  Check(Of([](const Variable& x) { return Roll(x, {2}); }), {RandomLeaf({2, 3})});
}
GRADIENT_CASE(roll, Empty) {
  Check(Of([](const Variable& x) { return Roll(x, {1}, {0}); }), {RandomLeaf({0, 2})});
}
GRADIENT_CASE(expand, Repeats) {
  Check(Of([](const Variable& x) { return Repeat(x, {2, 1, 3}); }), {TransposedLeaf({2, 2})});
}
GRADIENT_CASE(expand, RepeatsNothing) {
  Check(Of([](const Variable& x) { return Repeat(x, {0, 2}); }), {RandomLeaf({2, 2})});
}
GRADIENT_CASE(expand, RepeatsInARow) {
  Check(Of([](const Variable& x) { return RepeatInterleave(x, 3, -2); }), {TransposedLeaf({3, 2})});
}
GRADIENT_CASE(expand, RepeatsAScalarInARow) {
  Check(Of([](const Variable& x) { return RepeatInterleave(x, 2); }), {RandomLeaf({})});
}
GRADIENT_CASE(diagonal, OfABatch) {
  Check(Of([](const Variable& x) { return Diagonal(x, 1, -1, 0); }), {RandomLeaf({3, 2, 4})});
}
GRADIENT_CASE(diagonal, OutsideOfTheMatrix) {
  Check(Of([](const Variable& x) { return Diagonal(x, -5); }), {RandomLeaf({3, 2})});
}
GRADIENT_CASE(diag_embed, Below) {
  Check(Of([](const Variable& x) { return DiagEmbed(x, -1, 0, 2); }), {TransposedLeaf({2, 3})});
}
GRADIENT_CASE(diag, OfAMatrix) {
  Check(Of([](const Variable& x) { return Diag(x, 1); }), {RandomLeaf({3, 3})});
}
GRADIENT_CASE(pad, GrowsAndCuts) {
  Check(Of([](const Variable& x) {
          return Pad(x, {1, -1, -1, 2}, "constant", 3);
        }),
        {TransposedLeaf({3, 4})});
}
GRADIENT_CASE(pad, Empty) {
  Check(Of([](const Variable& x) { return Pad(x, {1, 1}); }), {RandomLeaf({2, 0})});
}

void CheckBorder(void (*check)(const testing::CheckedFunction&, const Variables&,
                               const testing::GradientCheckOptions&),
                 const char* mode) {
  const auto pad = [mode](const std::vector<int64_t>& by) {
    return Of([=](const Variable& x) { return Pad(x, by, mode); });
  };
  check(pad({2, 1, 0, 0, 1, 3}), {RandomLeaf({4, 2, 3})}, {});
  check(pad({-1, 2, 1, -2}), {TransposedLeaf({3, 3})}, {});
  check(pad({2, 2}), {RandomLeaf({0, 3})}, {});
}
GRADIENT_CASE(pad_border, Reflect) { CheckBorder(Check, "reflect"); }
GRADIENT_CASE(pad_border, Replicate) { CheckBorder(Check, "replicate"); }
GRADIENT_CASE(pad_border, Circular) { CheckBorder(Check, "circular"); }

TEST(Pad, Values) {
  const Variable x = Counted({4});
  EXPECT_EQ(Values(Pad(x, {2, 1}, "constant", 9)), (Floats{9, 9, 0, 1, 2, 3, 9}));
  EXPECT_EQ(Values(Pad(x, {-1, 1})), (Floats{1, 2, 3, 0}));
  EXPECT_EQ(Values(Pad(x, {2, 3}, "reflect")), (Floats{2, 1, 0, 1, 2, 3, 2, 1, 0}));
  EXPECT_EQ(Values(Pad(x, {-1, 3}, "reflect")), (Floats{1, 2, 3, 2, 1, 0}));
  EXPECT_EQ(Values(Pad(x, {2, 1}, "replicate")), (Floats{0, 0, 0, 1, 2, 3, 3}));
  EXPECT_EQ(Values(Pad(x, {4, 1}, "circular")), (Floats{0, 1, 2, 3, 0, 1, 2, 3, 0}));
  EXPECT_EQ(Values(Pad(x, {-1, 2}, "circular")), (Floats{1, 2, 3, 1, 2}));
  const Variable whole(FromVector<int64_t>({5, 7}, {1, 2}));
  EXPECT_EQ(ToVector<int64_t>(Pad(whole, {0, 1, 1, 0}, "constant", -1).data()),
            (std::vector<int64_t>{-1, -1, -1, 5, 7, -1}));
  EXPECT_EQ(ToVector<int64_t>(Pad(whole, {1, 1}, "reflect").data()),
            (std::vector<int64_t>{7, 5, 7, 5}));
}

TEST(Pad, KeepsLowTypes) {
  const Variable x(Full({2, 3}, 1.5, DType::kBF16));
  for (const char* mode : {"constant", "reflect"}) {
    const Tensor y = Pad(x, {1, 1}, mode).data();
    EXPECT_EQ(y.dtype(), DType::kBF16);
    EXPECT_EQ(y.shape(), Shape({2, 5}));
  }
}

TEST(Moves, Values) {
  const Variable x = Counted({2, 3});
  EXPECT_EQ(Values(Flip(x, {0, 1})), (Floats{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(Values(Flip(x, {1})), (Floats{2, 1, 0, 5, 4, 3}));
  EXPECT_NE(Flip(x, {}).data().storage(), x.data().storage());
  EXPECT_EQ(Values(Roll(x, {1}, {1})), (Floats{2, 0, 1, 5, 3, 4}));
  EXPECT_EQ(Values(Roll(x, {-1, 3}, {0, 0})), Values(x));
  EXPECT_EQ(Values(Roll(x, {7})), (Floats{5, 0, 1, 2, 3, 4}));
  EXPECT_EQ(Values(Roll(x, {1, 1}, {0, 1})), (Floats{5, 3, 4, 2, 0, 1}));
  EXPECT_EQ(Values(Repeat(Counted({2}), {2, 2})), (Floats{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(Tile(x, {2}).shape(), Shape({2, 6}));
  EXPECT_EQ(Tile(x, {2, 1, 1}).shape(), Shape({2, 2, 3}));
  EXPECT_EQ(Values(RepeatInterleave(x, 2, 0)), (Floats{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(RepeatInterleave(x, 2).shape(), Shape({12}));
  EXPECT_EQ(Values(Diagonal(x, 1)), (Floats{1, 5}));
  EXPECT_EQ(Values(Diagonal(x, 0, 1, 0)), (Floats{0, 4}));
  EXPECT_EQ(Values(Diag(Counted({2}), 1)), (Floats{0, 0, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(Values(Diag(x, -1)), (Floats{3}));
  EXPECT_EQ(Movedim(Counted({2, 3, 4}), 0, -1).shape(), Shape({3, 4, 2}));
  EXPECT_EQ(MovedOrder(4, {1, 3}, {0, 2}), Dims({1, 0, 3, 2}));
}

TEST(Moves, Pieces) {
  const Variable x = Counted({5, 2});
  const Variables chunks = Chunk(x, 4);
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[2].shape(), Shape({1, 2}));
  EXPECT_EQ(ChunkSizes(0, 3), (std::vector<int64_t>{0, 0, 0}));
  const Variables columns = Unbind(x, -1);
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(Values(columns[1]), (Floats{1, 3, 5, 7, 9}));
  EXPECT_TRUE(Unbind(Counted({2, 0}), 1).empty());
}

TEST(Moves, RefuseWhatDoesNotFit) {
  const Variable x = Counted({2, 3});
  EXPECT_THROW(Pad(x, {1}), BadInput);
  EXPECT_THROW(Pad(x, {0, 0, 0, 0, 1, 1}), BadInput);
  EXPECT_THROW(Pad(x, {-2, -2}), BadInput);
  EXPECT_THROW(Pad(x, {-4, 2}), BadInput);
  EXPECT_THROW(Pad(x, {1, 1}, "mirror"), BadInput);
  EXPECT_THROW(Pad(x, {3, 0}, "reflect"), BadInput);
  EXPECT_THROW(Pad(x, {0, 4}, "circular"), BadInput);
  EXPECT_THROW(Pad(Counted({2, 0}), {1, 0}, "replicate"), BadInput);
  EXPECT_THROW(Flip(x, {0, -2}), BadInput);
  EXPECT_THROW(Flip(x, {2}), BadInput);
  EXPECT_THROW(Roll(x, {1, 2}), BadInput);
  EXPECT_THROW(Roll(x, {1}, {0, 1}), BadInput);
  EXPECT_THROW(Repeat(x, {2}), BadInput);
  EXPECT_THROW(Repeat(x, {2, -1}), BadInput);
  EXPECT_THROW(RepeatInterleave(x, -1), BadInput);
  EXPECT_THROW(Diagonal(x, 0, 1, -1), BadInput);
  EXPECT_THROW(Diag(Counted({1, 2, 3})), BadInput);
  EXPECT_THROW(Chunk(x, 0), BadInput);
  EXPECT_THROW(Movedim(x, {0, 0}, {0, 1}), BadInput);
  EXPECT_THROW(Movedim(x, {0}, {0, 1}), BadInput);
}

}  // namespace
}  // namespace torus::ops
