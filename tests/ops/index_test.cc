#include "ops/indexing/index.h"

#include <limits>

#include "ops/elementwise/elementwise.h"
#include "tests/ops/op_test.h"
#include "tests/testing/error_of.h"

namespace torus::ops {
namespace {

using testing::ErrorOf;
using Items = std::vector<IndexItem>;

// 0, 1, ..., 23 as (2, 3, 4).
Tensor Counting() { return Arange(24, DType::kF32).View({2, 3, 4}); }

Tensor Mask(const std::vector<bool>& holds, const Shape& shape) {
  Tensor mask(shape, DType::kBool);
  std::copy(holds.begin(), holds.end(), mask.mutable_data<bool>());
  return mask;
}

Tensor Places(const std::vector<int64_t>& values, const Shape& shape) {
  return FromVector(values, shape);
}

void ExpectIndexed(const Items& index, const Shape& shape, const Floats& values) {
  const Tensor got = Index(Counting(), index);
  EXPECT_EQ(got.shape(), shape);
  EXPECT_EQ(ToVector<float>(got), values);
}

GRADIENT_CASE(index, EveryKindOfView) {
  Check(Of([](const Variable& x) {
          return Index(x, {Slice({}, {}, 2), kNewAxis, -1, kEllipsis, Slice(1)});
        }),
        {TransposedLeaf({3, 2, 1, 3})});
}
GRADIENT_CASE(index, UsedTwice) {
  Check(Of([](const Variable& x) { return Mul(Index(x, {Slice(1)}), Index(x, {Slice({}, -1)})); }),
        {RandomLeaf({4, 2})});
}
GRADIENT_CASE(index, Empty) {
  Check(Of([](const Variable& x) { return Index(x, {Slice(3, 1)}); }), {RandomLeaf({4, 2})});
}
GRADIENT_CASE(index, AndAnIndexTensorThatRepeats) {
  Check(Of([](const Variable& x) {
          return Index(x, {Slice(1), Places({-1, 0, 2, 2}, {2, 2})});
        }),
        {RandomLeaf({3, 3, 2})});
}
GRADIENT_CASE(index, AndAMask) {
  Check(Of([](const Variable& x) {
          return Index(x, {0, Mask({true, false, false, true}, {2, 2})});
        }),
        {TransposedLeaf({2, 2, 2})});
}

TEST(Index, IntegersAndSlicesViewAsInNumPy) {
  ExpectIndexed({1, 2}, {4}, {20, 21, 22, 23});
  ExpectIndexed({-1, -3, -4}, {}, {12});
  ExpectIndexed({kEllipsis, 1}, {2, 3}, {1, 5, 9, 13, 17, 21});
  ExpectIndexed({0, kEllipsis, 3}, {3}, {3, 7, 11});
  ExpectIndexed({Slice(), Slice({}, {}, 2), 0}, {2, 2}, {0, 8, 12, 20});
  ExpectIndexed({Slice(-1), kNewAxis, Slice({}, -2), Slice(1, 3)}, {1, 1, 1, 2}, {13, 14});
  ExpectIndexed({0, 0, Slice(-100, 100, 3)}, {2}, {0, 3});
  ExpectIndexed({0, 0, Slice(1, {}, std::numeric_limits<int64_t>::max())}, {1}, {1});
  ExpectIndexed({Slice(5)}, {0, 3, 4}, {});
  ExpectIndexed({Slice(), Slice(2, 1)}, {2, 0, 4}, {});
  EXPECT_EQ(Index(Full({}, 3), {kEllipsis, kNewAxis}).shape(), (Shape{1}));
  EXPECT_EQ(Index(Counting(), {}).shape(), (Shape{2, 3, 4}));
}

TEST(Index, AViewSharesMemoryOfAnyType) {
  Tensor x = Arange(6).View({2, 3});
  const Tensor column = Index(x, {Slice(), 1});
  x.mutable_data<int64_t>()[4] = 40;
  EXPECT_EQ(ToVector<int64_t>(column), (std::vector<int64_t>{1, 40}));
  EXPECT_EQ(ToVector<int64_t>(Index(Index(x.Transpose(0, 1), {Slice(1)}), {kEllipsis, 1})),
            (std::vector<int64_t>{40, 5}));
}

TEST(Index, AnIndexTensorReplacesItsDimension) {
  ExpectIndexed({0, Places({2, -3}, {2}), 1}, {2}, {9, 1});
  ExpectIndexed({Slice(), 0, Places({3, 0, 0, -1}, {2, 2})}, {2, 2, 2},
                {3, 0, 0, 3, 15, 12, 12, 15});
  ExpectIndexed({1, 0, Places({-2}, {}).To(DType::kI32)}, {}, {14});
  ExpectIndexed({Places({}, {0, 5}), 0, 0}, {0, 5}, {});
  const Tensor labels = FromVector<uint8_t>({7, 8, 9}, {3});
  EXPECT_EQ(ToVector<uint8_t>(Index(labels, {Places({2, 2}, {2})})), (std::vector<uint8_t>{9, 9}));
}

TEST(Index, AMaskMergesItsDimensions) {
  ExpectIndexed({Slice(), Mask({true, false, true}, {3}), 0}, {2, 2}, {0, 8, 12, 20});
  ExpectIndexed({Mask({false, true, false, false, false, true}, {2, 3}), Slice(3)}, {2, 1},
                {7, 23});
  ExpectIndexed({Mask(std::vector<bool>(24), {2, 3, 4})}, {0}, {});
  const Tensor x = Counting();
  EXPECT_EQ(ToVector<float>(Index(Variable(x), {Variable(Mask({false, true}, {2})), 0, 0}).data()),
            Floats{12});
}

TEST(Index, WhatDoesNotFitIsRefused) {
  const Tensor x = Counting();
  const auto error = [&](const Items& index) { return ErrorOf([&] { Index(x, index); }); };
  EXPECT_EQ(error({0, 0, 0, 0}), "[index] 4 dimensions are indexed of shape (2, 3, 4)");
  EXPECT_EQ(error({0, 3}), "[index] 3 is outside of dimension 1 of shape (2, 3, 4)");
  EXPECT_EQ(error({-3}), "[index] -3 is outside of dimension 0 of shape (2, 3, 4)");
  EXPECT_EQ(error({kEllipsis, kEllipsis}), "[index] has 2 ellipses, where at most one is possible");
  EXPECT_EQ(error({Places({0}, {1}), Places({0}, {1})}),
            "[index] at most one index tensor or mask is possible; index the result again for the "
            "other");
  EXPECT_EQ(error({0, Mask({true, true}, {2})}),
            "[index] the mask (2) does not fit dimensions 1 to 1 of shape (2, 3, 4)");
  EXPECT_EQ(error({Full({2}, 0)}),
            "[index] an index tensor must be i64, i32 or bool, got f32 (2) on cpu");
  EXPECT_EQ(error({Mask({true}, {})}), "[index] a mask needs dimensions, got bool () on cpu");
  EXPECT_EQ(error({Places({0, 2}, {2})}),
            "[index_select] index 2 at position 1 is outside of [0, 2)");
  EXPECT_EQ(error({Places({-3}, {1})}),
            "[index_select] index -3 at position 0 is outside of [0, 2)");
  EXPECT_EQ(error({Tensor()}), "[index] needs a defined index tensor, got an undefined one");
  EXPECT_EQ(ErrorOf([] { Slice({}, {}, -1); }),
            "[slice] needs a step of at least 1 (ops::Flip reverses), got -1");
  EXPECT_EQ(ErrorOf([] { Index(Tensor(), {0}); }),
            "[index] needs a defined tensor, got an undefined one");
  EXPECT_EQ(ErrorOf([&] {
              Index(x, {Mask({true, true}, {2}).To(kMetaDevice)});
            }),
            "[index] a mask on meta has no values, so nobody knows how many elements it selects, "
            "got bool (2) on meta");
}

TEST(Assign, WritesThroughViews) {
  Tensor x = Zeros({2, 3});
  Assign(x, {Slice(), Slice({}, {}, 2)}, FromVector<float>({1, 2}, {2}));
  EXPECT_EQ(ToVector<float>(x), (Floats{1, 0, 2, 1, 0, 2}));
  Assign(x, {-1}, 7);
  EXPECT_EQ(ToVector<float>(x), (Floats{1, 0, 2, 7, 7, 7}));
  Assign(x, {0, Slice(1)}, Index(x, {0, Slice({}, -1)}));  // overlaps itself
  EXPECT_EQ(ToVector<float>(x), (Floats{1, 1, 0, 7, 7, 7}));
  Tensor turned = x.Transpose(0, 1);
  Assign(turned, {2}, Arange(2));  // i64 into f32
  EXPECT_EQ(ToVector<float>(x), (Floats{1, 1, 0, 7, 7, 1}));
}

TEST(Assign, WritesWhereAMaskHoldsOrAnIndexPoints) {
  Tensor x = Arange(6).View({2, 3});
  Assign(x, {Mask({true, false, false, false, false, true}, {2, 3})}, -1);
  EXPECT_EQ(ToVector<int64_t>(x), (std::vector<int64_t>{-1, 1, 2, 3, 4, -1}));
  Assign(x, {Slice(), Places({0, -1, 0}, {3})}, Places({10, 20, 30}, {3}));
  EXPECT_EQ(ToVector<int64_t>(x), (std::vector<int64_t>{30, 1, 20, 30, 4, 20}));
  Tensor column = Index(x, {Slice(), 1});
  Assign(column, {Mask({false, true}, {2})}, 5);
  EXPECT_EQ(ToVector<int64_t>(x), (std::vector<int64_t>{30, 1, 20, 30, 5, 20}));
  Assign(x, {Mask(std::vector<bool>(6), {2, 3})}, 9);
  EXPECT_EQ(x.Select(0, 0).Select(0, 0).Item(), 30);
}

// 2^53 + 1 has no double.
TEST(Index, AnIndexIsComputedAsAWholeNumber) {
  const int64_t odd = (int64_t{1} << 53) + 1;
  EXPECT_EQ(ErrorOf([&] { Index(Counting(), {Places({odd}, {1})}); }),
            "[index_select] index 9007199254740993 at position 0 is outside of [0, 2)");
  EXPECT_EQ(ErrorOf([&] { Index(Counting(), {Places({-odd}, {1})}); }),
            "[index_select] index -9007199254740993 at position 0 is outside of [0, 2)");
}

TEST(Assign, TouchesNoOtherElementAndTakesValuesOfAnyType) {
  for (const DType dtype : {DType::kF64, DType::kBF16, DType::kU8}) {
    Tensor x = Arange(12).View({3, 4}).To(dtype);
    Assign(x, {Places({2, 0, 2}, {3}), Slice(1, 3)}, Arange(6).View({3, 2}));
    EXPECT_EQ(ToVector<int64_t>(x.To(DType::kI64)),
              (std::vector<int64_t>{0, 2, 3, 3, 4, 5, 6, 7, 8, 4, 5, 11}));
  }
}

TEST(Assign, AnIndexWithoutValuesIsRefused) {
  Tensor x = Zeros({2, 3});
  EXPECT_EQ(ErrorOf([&] { Assign(x, {Places({1}, {1}).To(kMetaDevice)}, 1); }),
            "[assign] an index on meta does not say what is written on cpu");
}

TEST(Assign, BumpsTheVersionAndRefusesWhatDoesNotFit) {
  Tensor x = Zeros({2, 3});
  const uint64_t before = x.version();
  Assign(x, {0}, 1);
  EXPECT_GT(x.version(), before);
  EXPECT_EQ(ErrorOf([&] { Assign(x, {0}, Zeros({2})); }),
            "[expand] shape (2) does not expand to (3)");
  Tensor none;
  EXPECT_EQ(ErrorOf([&] { Assign(none, {0}, 1); }),
            "[assign] needs a defined tensor, got an undefined one");
  EXPECT_EQ(ErrorOf([&] { Assign(x, {0}, none); }),
            "[assign] needs defined values, got undefined ones");
}

}  // namespace
}  // namespace torus::ops
