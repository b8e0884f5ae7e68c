#include "ops/view/view.h"

#include "ops/elementwise/elementwise.h"
#include "ops/view/view_shape.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

GRADIENT_CASE(reshape, Contiguous) {
  Check(Of([](const Variable& x) { return Reshape(x, {3, -1}); }), {RandomLeaf({2, 3, 2})});
}
GRADIENT_CASE(reshape, Strided) {
  Check(Of([](const Variable& x) { return Reshape(x, {6}); }), {TransposedLeaf({2, 3})});
}
GRADIENT_CASE(reshape, FlattenEmpty) {
  Check(Of([](const Variable& x) { return Flatten(x, 1); }), {RandomLeaf({2, 0, 3})});
}
GRADIENT_CASE(reshape, FlattenScalar) {
  Check(Of([](const Variable& x) { return Flatten(x); }), {RandomLeaf({})});
}
GRADIENT_CASE(transpose, NegativeDims) {
  Check(Of([](const Variable& x) { return Transpose(x, -1, 0); }), {RandomLeaf({2, 3, 4})});
}
GRADIENT_CASE(transpose, TwiceUsed) {
  Check(Of([](const Variable& x) { return Mul(Transpose(x, 0, 1), x); }), {RandomLeaf({3, 3})});
}
GRADIENT_CASE(permute, Images) {
  Check(Of([](const Variable& x) {
          return Permute(x, {0, -1, 1, 2});
        }),
        {RandomLeaf({1, 2, 3, 4})});
}
GRADIENT_CASE(narrow, Middle) {
  Check(Of([](const Variable& x) { return Narrow(x, 1, 1, 2); }), {TransposedLeaf({2, 4})});
}
GRADIENT_CASE(narrow, FromTheEnd) {
  Check(Of([](const Variable& x) { return Narrow(x, 0, -2, 1); }), {RandomLeaf({3})});
}
GRADIENT_CASE(narrow, Nothing) {
  Check(Of([](const Variable& x) { return Narrow(x, 0, 1, 0); }), {RandomLeaf({3, 2})});
}
GRADIENT_CASE(expand, NewAndOld) {
  Check(Of([](const Variable& x) { return Expand(x, {2, -1, 4}); }), {RandomLeaf({3, 1})});
}
GRADIENT_CASE(expand, Scalar) {
  Check(Of([](const Variable& x) { return Expand(x, {2, 2}); }), {RandomLeaf({})});
}
GRADIENT_CASE(squeeze, All) {
  Check(Of([](const Variable& x) { return Squeeze(x); }), {RandomLeaf({1, 3, 1, 2})});
}
GRADIENT_CASE(squeeze, Some) {
  Check(Of([](const Variable& x) { return Squeeze(x, {-1, 1}); }), {RandomLeaf({1, 3, 1})});
}
GRADIENT_CASE(unsqueeze, Ends) {
  Check(Of([](const Variable& x) { return Unsqueeze(Unsqueeze(x, 0), -1); }),
        {TransposedLeaf({3, 2})});
}

// All ways to split and merge the dimensions of tensors that were permuted, narrowed and expanded.
TEST(View, OfAnyStridesHasTheElementsOfACopy) {
  const Tensor base = Arange(2 * 3 * 4 * 6, DType::kF32).View({2, 3, 4, 6});
  const std::vector<Tensor> strided{base,
                                    base.Narrow(3, 1, 4),
                                    base.Narrow(1, 1, 1),
                                    base.Narrow(2, 0, 2).Narrow(3, 0, 3),
                                    base.Transpose(1, 2),
                                    base.Permute({3, 0, 1, 2}),
                                    base.Narrow(0, 0, 1).Expand({5, 3, 4, 6}),
                                    base.Narrow(3, 2, 0)};
  int views = 0, copies = 0;
  for (const Tensor& t : strided) {
    const Shape s = t.shape();
    for (const Shape& shape :
         {Shape{s[0], s[1], s[2] * s[3]}, Shape{s[0] * s[1], s[2], s[3]}, Shape{t.numel()},
          Shape{s[0], s[1] * s[2], 1, s[3]}, Shape{s[0], s[1], s[2], 1, s[3]},
          Shape{1, s[0], s[1] * s[2] * s[3]}}) {
      const Tensor seen = Reshape(Variable(t), shape).data();
      EXPECT_EQ(seen.shape(), shape);
      EXPECT_EQ(ToVector<float>(seen), ToVector<float>(t.Contiguous().View(shape)))
          << ToString(t.strides()) << " as " << ToString(shape);
      ++(seen.storage() == t.storage() ? views : copies);
    }
  }
  EXPECT_GT(views, 20);  // not those of the contiguous one alone
  EXPECT_GT(copies, 5);
}

TEST(View, SharesMemory) {
  const Variable x(Arange(6, DType::kF32).View({2, 3}));
  EXPECT_EQ(Reshape(x, {3, 2}).data().raw(), x.data().raw());
  EXPECT_TRUE(Expand(x, {2, 3}) == x);
  EXPECT_EQ(Expand(x, {4, 2, 3}).data().storage(), x.data().storage());
  EXPECT_EQ(Unsqueeze(x, 1).shape(), Shape({2, 1, 3}));
  EXPECT_TRUE(Unsqueeze(x, 2).data().is_contiguous());
  EXPECT_EQ(ToVector<float>(Narrow(x, 1, -1, 1).data()), (std::vector<float>{2, 5}));
  EXPECT_EQ(ToVector<int64_t>(Transpose(Variable(Arange(4).View({2, 2})), 0, 1).data()),
            (std::vector<int64_t>{0, 2, 1, 3}));
}

TEST(ViewShape, Rules) {
  EXPECT_EQ(FlattenedShape({2, 3, 4}, 1, 2), Shape({2, 12}));
  EXPECT_EQ(FlattenedShape({2, 3, 4}, 0, -2), Shape({6, 4}));
  EXPECT_EQ(FlattenedShape({}, 0, -1), Shape({1}));
  EXPECT_THROW(FlattenedShape({2, 3}, 1, 0), BadInput);
  EXPECT_EQ(SqueezedDims({1, 2, 1}, {2, 1}), Dims({2}));
  EXPECT_THROW(SqueezedDims({1, 2}, {0, -2}), BadInput);
}

TEST(View, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({2, 3}));
  EXPECT_THROW(Reshape(x, {4, -1}), BadInput);
  EXPECT_THROW(Permute(x, {0, 0}), BadInput);
  EXPECT_THROW(Narrow(x, 1, 2, 2), BadInput);
  EXPECT_THROW(Narrow(Variable(Zeros({})), 0, 0, 1), BadInput);
  EXPECT_THROW(Expand(x, {2, 4}), BadInput);
  EXPECT_THROW(Unsqueeze(x, 3), BadInput);
}

}  // namespace
}  // namespace torus::ops
