// What chooses elements by their values, and what writes and adds by index.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/indexing/indexing.h"
#include "ops/indexing/nonzero.h"
#include "ops/indexing/repeat_rows.h"
#include "ops/indexing/scatter.h"
#include "ops/sort/sort.h"
#include "ops/view/view.h"
#include "runtime/parallel_for.h"
#include "runtime/team_size_guard.h"
#include "tests/ops/op_test.h"
#include "tests/testing/error_of.h"
#include "tests/testing/on_gpu.h"

namespace torus::ops {
namespace {

using Wholes = std::vector<int64_t>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

testing::CheckedFunction ScatterOf(int64_t dim, const Variable& index) {
  return [=](const Variables& in) {
    return Variables{Scatter(in[0], dim, Beside(in[0], index), in[1])};
  };
}
testing::CheckedFunction ScatterAddOf(int64_t dim, const Variable& index) {
  return [=](const Variables& in) {
    return Variables{ScatterAdd(in[0], dim, Beside(in[0], index), in[1])};
  };
}
testing::CheckedFunction IndexAddOf(int64_t dim, const Variable& index, double alpha) {
  return [=](const Variables& in) {
    return Variables{IndexAdd(in[0], dim, Beside(in[0], index), in[1], alpha)};
  };
}

GRADIENT_CASE(scatter, Columns) {
  Check(ScatterOf(1, Index({0, 2, 2, 1}, {2, 2})), {TransposedLeaf({3, 3}), RandomLeaf({2, 3}, 1)});
}
GRADIENT_CASE(scatter, Scalars) {
  Check(ScatterOf(0, Index({0}, {})), {RandomLeaf({}), RandomLeaf({}, 1)});
}
GRADIENT_CASE(scatter, NoIndex) {
  Check(ScatterOf(0, Index({}, {0})), {RandomLeaf({2, 3}), RandomLeaf({2, 3}, 1)});
}
GRADIENT_CASE(scatter, Number) {
  Check(
      [](const Variables& in) {
        return Variables{Scatter(in[0], 0, Beside(in[0], Index({1, 1}, {2, 1})), 5)};
      },
      {RandomLeaf({2, 2})});
}
GRADIENT_CASE(scatter_add, Repeated) {
  Check(ScatterAddOf(0, Index({1, 1, 1, 0}, {2, 2})),
        {TransposedLeaf({2, 3}), TransposedLeaf({4, 2}, 1)});
}
GRADIENT_CASE(scatter_add, Scalars) {
  Check(ScatterAddOf(0, Index({0}, {1})), {RandomLeaf({}), RandomLeaf({1}, 1)});
}
GRADIENT_CASE(scatter_add, NoIndex) {
  Check(ScatterAddOf(0, Index({}, {0})), {RandomLeaf({2}), RandomLeaf({3}, 1)});
}
GRADIENT_CASE(index_add, Repeated) {
  Check(IndexAddOf(-1, Index({1, 1, 0}, {3}), 0.5),
        {TransposedLeaf({3, 2}), TransposedLeaf({3, 3}, 1)});
}
GRADIENT_CASE(index_add, Scalar) {
  Check(IndexAddOf(0, Index({0}, {1}), 2), {RandomLeaf({}), RandomLeaf({1}, 1)});
}
GRADIENT_CASE(index_add, NoIndex) {
  Check(IndexAddOf(0, Index({}, {0}), 1), {RandomLeaf({2, 2}), RandomLeaf({0, 2}, 1)});
}
GRADIENT_CASE(gather, TakenAlongADimension) {
  Check(
      [](const Variables& in) {
        return Variables{TakeAlongDim(in[0], Beside(in[0], Index({2, 0, 2}, {1, 3})), 1),
                         TakeAlongDim(in[0], Beside(in[0], Index({5, 0}, {2, 1})))};
      },
      {TransposedLeaf({2, 3})});
}
GRADIENT_CASE(index_select, Masked) {
  Check(
      [](const Variables& in) {
        Tensor mask = Zeros({2, 1, 3}, DType::kBool);
        for (int64_t i : {0, 2, 3}) mask.mutable_data<bool>()[i] = true;
        return Variables{MaskedSelect(in[0], Beside(in[0], Variable(mask)))};
      },
      {TransposedLeaf({4, 3})});
}
GRADIENT_CASE(index_select, RepeatsRows) {
  Check(
      [](const Variables& in) {
        const Tensor repeats = Beside(in[0], Index({2, 0, 3}, {3})).data();
        return Variables{RepeatInterleave(in[0], repeats, 1)};
      },
      {TransposedLeaf({2, 3})});
}
GRADIENT_CASE(sort, Middle) {
  Check(Of([](const Variable& x) { return Sort(x, 1, true).values; }), {RandomLeaf({2, 5, 3})});
}
GRADIENT_CASE(sort, Strided) {
  Check(Of([](const Variable& x) { return Sort(x).values; }), {TransposedLeaf({3, 4})});
}
GRADIENT_CASE(sort, Scalar) {
  Check(Of([](const Variable& x) { return Sort(x).values; }), {RandomLeaf({})});
}
GRADIENT_CASE(sort, Empty) {
  Check(Of([](const Variable& x) { return Sort(x, 0).values; }), {RandomLeaf({0, 3})});
}
GRADIENT_CASE(topk, Largest) {
  Check(Of([](const Variable& x) { return TopK(x, 2, 0).values; }), {TransposedLeaf({5, 3})});
}
GRADIENT_CASE(topk, SmallestOrNone) {
  Check(
      [](const Variables& in) {
        return Variables{TopK(in[0], 3, -1, false).values, TopK(in[0], 0).values};
      },
      {RandomLeaf({2, 4})});
}

TEST(IndexAdd, OfWholeNumbersScalesByAWholeNumberAndWraps) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const Variable x = Index({most, 5}, {2}), source = Index({2, 7, 1}, {3});
  const Variable at = Index({0, 1, 1}, {3});
  EXPECT_EQ(ToVector<int64_t>(IndexAdd(x, 0, at, source).data()),
            (Wholes{std::numeric_limits<int64_t>::min() + 1, 13}));
  EXPECT_EQ(ToVector<int64_t>(IndexAdd(x, 0, at, source, -3).data()), (Wholes{most - 6, -19}));
  const Tensor bytes = FromVector<uint8_t>({250, 1}, {2});
  EXPECT_EQ(ToVector<uint8_t>(
                IndexAdd(Variable(bytes), 0, Index({0}, {1}), Variable(bytes.Narrow(0, 1, 1)), 10)
                    .data()),
            (std::vector<uint8_t>{4, 1}));
  EXPECT_EQ(testing::ErrorOf([&] { IndexAdd(x, 0, at, source, 0.5); }),
            "[index_add] 0.5 is no i64");
  EXPECT_EQ(
      ToVector<int64_t>(
          ScatterAdd(Index({0}, {1}), 0, Index({0, 0}, {2}), Index({most, most}, {2})).data()),
      (Wholes{-2}));
}

TEST(Scatters, NameThemselvesWhereAnInputIsUndefined) {
  const Variable x = Index({1}, {1}), none;
  EXPECT_EQ(testing::ErrorOf([&] { Scatter(x, 0, none, 1); }),
            "[scatter] needs defined inputs, got i64 (1) on cpu and none");
  EXPECT_EQ(testing::ErrorOf([&] { IndexAdd(x, 0, none, x); }),
            "[index_add] needs defined inputs, got i64 (1) on cpu and none and i64 (1) on cpu");
}

TEST(Scatter, Values) {
  const Variable x(Zeros({3, 2}));
  const Variable src(FromVector<float>({1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(Values(Scatter(x, 0, Index({2, 0, 2, 1}, {2, 2}), src)), (Floats{0, 2, 0, 4, 3, 0}));
  EXPECT_EQ(Values(ScatterAdd(x, 0, Index({2, 0, 2, 1}, {2, 2}), src)), (Floats{0, 2, 0, 4, 4, 0}));
  EXPECT_EQ(Values(Scatter(x, 1, Index({1}, {1, 1}), 7)), (Floats{0, 7, 0, 0, 0, 0}));
  EXPECT_EQ(Values(IndexAdd(x, 0, Index({2, 2}, {2}), src, 2)), (Floats{0, 0, 0, 0, 8, 12}));
  EXPECT_EQ(Values(x), Floats(6, 0));
  const Variable whole(FromVector<int32_t>({1, 2}, {2})), one(FromVector<int32_t>({5, 6}, {2}));
  EXPECT_EQ(ToVector<int32_t>(ScatterAdd(whole, 0, Index({1, 1}, {2}), one).data()),
            (std::vector<int32_t>{1, 13}));
  EXPECT_EQ(ToVector<int32_t>(IndexAdd(whole, 0, Index({0}, {1}), Narrow(one, 0, 0, 1)).data()),
            (std::vector<int32_t>{6, 2}));
  EXPECT_EQ(ToVector<int32_t>(Gather(one, 0, Index({1, 0, 1}, {3})).data()),
            (std::vector<int32_t>{6, 5, 6}));
}

// Each sum is rounded once, from f32: 256 + 1 + 1 in bf16 would stay 256.
TEST(Scatter, AddsLowTypesInF32) {
  const Variable x(Full({1}, 256, DType::kBF16)), src(Full({2}, 1, DType::kBF16));
  for (const Variable& y :
       {ScatterAdd(x, 0, Index({0, 0}, {2}), src), IndexAdd(x, 0, Index({0, 0}, {2}), src)}) {
    EXPECT_EQ(y.dtype(), DType::kBF16);
    EXPECT_EQ(Values(Variable(y.data().To(DType::kF32))), (Floats{258}));
  }
}

// Columns of a few elements and long ones, which GPUs sort.
TEST(Scatter, AddsInOrderOnEveryDeviceAndTeam) {
  const TeamSizeGuard guard(1);
  for (const Shape& shape : {Shape{3000}, Shape{7, 9}, Shape{2, 100}}) {
    const int64_t dim = shape.rank() - 1;
    Tensor index(shape, DType::kI64), src(shape, DType::kF32);
    for (int64_t i = 0; i < index.numel(); ++i) {
      index.mutable_data<int64_t>()[i] = i * i % 5;
      src.mutable_data<float>()[i] = static_cast<float>(i % 101) * 0.1f;
    }
    const auto both = [&](Device device) {
      const Variable x(Full(shape, 0.3).To(device)), at(index.To(device)), y(src.To(device));
      Floats all = Values(ScatterAdd(x, dim, at, y));
      for (float v : Values(Scatter(x, dim, at, y))) all.push_back(v);
      return all;
    };
    const Floats want = both({});
    SetTeamSize(3);
    EXPECT_EQ(both({}), want);
    SetTeamSize(1);
    if (testing::HasGpu()) {
      EXPECT_EQ(both(testing::kFirstGpu), want);
    }
  }
}

TEST(OneHot, Values) {
  const Tensor classes = FromVector<int64_t>({2, 0}, {2});
  EXPECT_EQ(ToVector<int64_t>(OneHot(classes)), (Wholes{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(OneHot(classes.View({2, 1}), 5).shape(), Shape({2, 1, 5}));
  EXPECT_EQ(OneHot(Zeros({0, 2}, DType::kI64), 3).shape(), Shape({0, 2, 3}));
  EXPECT_EQ(OneHot(classes.To(kMetaDevice), 3).shape(), Shape({2, 3}));
  EXPECT_THROW(OneHot(classes, 2), BadInput);
  EXPECT_THROW(OneHot(classes, 0), BadInput);
  EXPECT_THROW(OneHot(Zeros({0}, DType::kI64)), BadInput);
  EXPECT_THROW(OneHot(classes.To(kMetaDevice)), BadInput);
  EXPECT_THROW(OneHot(FromVector<int64_t>({1, -1}, {2})), BadInput);
  EXPECT_THROW(OneHot(Zeros({2})), BadInput);
}

TEST(Nonzero, Places) {
  const Tensor x = FromVector<float>({0, 2, NAN, 0, 0, -1}, {2, 3});
  EXPECT_EQ(ToVector<int64_t>(Nonzero(x)), (Wholes{0, 1, 0, 2, 1, 2}));
  EXPECT_EQ(Nonzero(Zeros({2, 3})).shape(), Shape({0, 2}));
  EXPECT_EQ(Nonzero(Zeros({0, 3})).shape(), Shape({0, 2}));
  EXPECT_EQ(Nonzero(Full({}, 3)).shape(), Shape({1, 0}));
  EXPECT_EQ(Nonzero(Zeros({})).shape(), Shape({0, 0}));
  const Variable mask(FromVector<float>({1, 0, 1}, {3}).To(DType::kBool));
  EXPECT_EQ(Values(MaskedSelect(Variable(Arange(6, DType::kF32).View({2, 3})), mask)),
            (Floats{0, 2, 3, 5}));
  EXPECT_EQ(ToVector<int64_t>(MaskedSelect(Variable(Arange(3)), mask).data()), (Wholes{0, 2}));
  EXPECT_THROW(MaskedSelect(mask, Variable(x)), BadInput);
  EXPECT_EQ(testing::ErrorOf([&] { Nonzero(x.To(kMetaDevice)); }),
            "[nonzero] the size of the result depends on values, which a tensor on meta does not "
            "have, got f32 (2, 3) on meta");
  EXPECT_THROW(MaskedSelect(Variable(x), Variable(mask.data().To(kMetaDevice))), BadInput);
  EXPECT_EQ(MaskedSelect(Variable(x.To(kMetaDevice)), mask).data().device(), kMetaDevice);
}

TEST(RepeatInterleave, EachRowAsOftenAsAsked) {
  const Variable x(Arange(4).View({2, 2}));
  const auto repeats = [](const Wholes& counts) {
    return FromVector(counts, {std::ssize(counts)});
  };
  EXPECT_EQ(ToVector<int64_t>(RepeatInterleave(x, repeats({0, 2}), 0).data()),
            (Wholes{2, 3, 2, 3}));
  EXPECT_EQ(ToVector<int64_t>(RepeatInterleave(x, repeats({1, 0, 0, 2})).data()),
            (Wholes{0, 3, 3}));
  EXPECT_EQ(RepeatInterleave(x, repeats({3}), 1).shape(), Shape({2, 6}));
  EXPECT_THROW(RepeatInterleave(x, repeats({1, 2, 3}), 0), BadInput);
  EXPECT_THROW(RepeatInterleave(x, repeats({1, -2}), 0), BadInput);
  EXPECT_THROW(RepeatInterleave(x, Zeros({2}), 0), BadInput);
  EXPECT_THROW(RepeatInterleave(x, Zeros({2}, DType::kI64, kMetaDevice), 0), BadInput);
}

// More than a part and a piece of what a block of a GPU counts, and the rest of one.
TEST(Nonzero, IsThatOfTheCpuOnAGpu) {
  if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  Tensor mask({3, 5, 777}, DType::kBool);
  for (int64_t i = 0; i < mask.numel(); ++i) mask.mutable_data<bool>()[i] = i * i % 7 < 3;
  EXPECT_EQ(ToVector<int64_t>(Nonzero(mask.To(testing::kFirstGpu))),
            ToVector<int64_t>(Nonzero(mask)));
}

TEST(Sort, Values) {
  const Tensor x = FromVector<double>({2, kNan, -INFINITY, -0.0, 0, 2, INFINITY}, {7});
  EXPECT_EQ(ToVector<int64_t>(Argsort(x)), (Wholes{2, 3, 4, 0, 5, 6, 1}));
  EXPECT_EQ(ToVector<int64_t>(Argsort(x, 0, true)), (Wholes{1, 6, 0, 5, 3, 4, 2}));
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16})
    EXPECT_EQ(ToVector<int64_t>(Argsort(x.To(dtype))), (Wholes{2, 3, 4, 0, 5, 6, 1}));
  const Tensor whole = FromVector<int64_t>({5, INT64_MIN, 5, INT64_MAX}, {2, 2});
  EXPECT_EQ(ToVector<int64_t>(Sort(Variable(whole), 0, true).values.data()),
            (Wholes{5, INT64_MAX, 5, INT64_MIN}));
  const SortResult top = TopK(Variable(x), 3);
  EXPECT_EQ(ToVector<int64_t>(top.indices), (Wholes{1, 6, 0}));
  EXPECT_EQ(ToVector<int64_t>(TopK(Variable(x), 2, 0, false).indices), (Wholes{2, 3}));
  EXPECT_EQ(TopK(Variable(whole), 0, 1).values.shape(), Shape({2, 0}));
  EXPECT_EQ(Sort(Variable(Full({}, 2))).indices.shape(), Shape({}));
  EXPECT_EQ(Sort(Variable(Full({3}, 2, DType::kBF16))).values.dtype(), DType::kBF16);
}

// Rows of several tiles of a GPU's sort, with many equal elements; equal to the definition.
TEST(Sort, IsStableInLongRows) {
  constexpr int64_t kRows = 2, kCount = 5000;
  Tensor x({kRows, kCount}, DType::kF32);
  for (int64_t i = 0; i < x.numel(); ++i)
    x.mutable_data<float>()[i] = static_cast<float>(i * i % 613) - 300;
  const auto expect = [&](bool descending) {
    Wholes order;
    for (int64_t r = 0; r < kRows; ++r) {
      const float* row = x.data<float>() + r * kCount;
      Wholes places(kCount);
      for (int64_t i = 0; i < kCount; ++i) places[static_cast<size_t>(i)] = i;
      std::ranges::stable_sort(places, [&](int64_t a, int64_t b) {
        return descending ? row[a] > row[b] : row[a] < row[b];
      });
      order.insert(order.end(), places.begin(), places.end());
    }
    EXPECT_EQ(ToVector<int64_t>(Argsort(x, -1, descending)), order);
    const Tensor top = FromVector(order, {kRows, kCount}).Narrow(1, 0, 100).Contiguous();
    EXPECT_EQ(ToVector<int64_t>(TopK(Variable(x), 100, 1, descending).indices),
              ToVector<int64_t>(top));
    if (testing::HasGpu()) {
      EXPECT_EQ(ToVector<int64_t>(Argsort(x.To(testing::kFirstGpu), -1, descending)), order);
    }
  };
  expect(false);
  expect(true);
}

TEST(Scatter, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({2, 3})), src(Zeros({2, 2}));
  EXPECT_EQ(testing::ErrorOf([&] {
              Scatter(x, 0, Index({0, 2}, {1, 2}), src);
            }),
            "[scatter] index 2 at position 1 is outside of [0, 2)");
  EXPECT_THROW(ScatterAdd(x, 0, Index({0, 0, 0}, {3, 1}), src), BadInput);
  EXPECT_THROW(ScatterAdd(x, 0, Index({0}, {1}), src), BadInput);
  EXPECT_THROW(ScatterAdd(x, 2, Index({0}, {1, 1}), src), BadInput);
  EXPECT_THROW(ScatterAdd(x, 0, Variable(Zeros({1, 1})), src), BadInput);
  EXPECT_THROW(Scatter(x, 0, Index({0}, {1, 1}), Variable(Zeros({1, 1}, DType::kI64))), BadInput);
  EXPECT_THROW(IndexAdd(x, 0, Index({0}, {1}), src), BadInput);
  EXPECT_THROW(IndexAdd(x, 1, Index({0, 3}, {2}), src), BadInput);
  const Variable whole(Zeros({2}, DType::kI64));
  EXPECT_THROW(IndexAdd(whole, 0, Index({0}, {1}), Narrow(whole, 0, 0, 1), 2.5), BadInput);
  EXPECT_THROW(TakeAlongDim(x, Index({0}, {1}), 0), BadInput);
  EXPECT_THROW(TopK(x, 4), BadInput);
  EXPECT_THROW(TopK(x, -1), BadInput);
  EXPECT_THROW(Sort(x, 2), BadInput);
}

}  // namespace
}  // namespace torus::ops
