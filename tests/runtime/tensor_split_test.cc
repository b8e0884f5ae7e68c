#include "runtime/tensor_split.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace torus {
namespace {

TEST(TensorSplit, PartsLieInRankOrderAndDifferByOne) {
  for (const int64_t count : {0, 1, 5, 8, 29, 50257})
    for (const int size : {1, 2, 3, 8}) {
      int64_t next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const IndexRange part = PartOf(count, {rank, size});
        EXPECT_EQ(part.begin, next);
        EXPECT_GE(part.size(), count / size);
        EXPECT_LE(part.size(), (count + size - 1) / size);
        next = part.end;
      }
      EXPECT_EQ(next, count);
    }
}

TEST(TensorSplit, ASliceHasItsPartOfEveryRun) {
  const Tensor whole = FromVector<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 6});
  // Three runs of two columns each.
  EXPECT_EQ(ToVector<float>(SliceOf(whole, {1, 3}, {1, 2})),
            (std::vector<float>{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(ToVector<float>(SliceOf(whole, {1, 1}, {1, 2})),
            (std::vector<float>{3, 4, 5, 9, 10, 11}));
  EXPECT_EQ(ToVector<float>(SliceOf(whole, {0, 1}, {0, 2})),
            (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(TensorSplit, SlicesJoinToTheWhole) {
  Tensor whole({6, 9}, DType::kF64);
  for (int64_t i = 0; i < whole.numel(); ++i)
    whole.mutable_data<double>()[i] = static_cast<double>(i);
  for (const TensorSplit split : {TensorSplit{0, 1}, TensorSplit{0, 3}, TensorSplit{1, 1},
                                  TensorSplit{1, 3}, TensorSplit{1, 9}})
    for (const int size : {1, 2, 3, 4}) {
      std::vector<Tensor> slices;
      int64_t elements = 0;
      for (int rank = 0; rank < size; ++rank) {
        slices.push_back(SliceOf(whole, split, {rank, size}));
        EXPECT_EQ(slices.back().shape(), SliceShape(whole.shape(), split, {rank, size}));
        elements += slices.back().numel();
      }
      EXPECT_EQ(elements, whole.numel());
      EXPECT_EQ(ToVector<double>(JoinSlices(slices, whole.shape(), split)),
                ToVector<double>(whole));
    }
}

TEST(TensorSplit, OnMetaHasShapesAlone) {
  const Tensor whole = Empty({1000000, 1000000}, DType::kF32, kMetaDevice);
  const Tensor slice = SliceOf(whole, {1, 2}, {2, 3});
  EXPECT_EQ(slice.device(), kMetaDevice);
  EXPECT_EQ(slice.shape(), (Shape{1000000, 2 * 166666}));
}

TEST(TensorSplit, RefusesRunsThatDoNotFit) {
  EXPECT_THROW(SliceOf(Zeros({4, 6}), {0, 3}, {0, 2}), InternalError);
  EXPECT_THROW(SliceOf(Zeros({4, 6}), {2, 1}, {0, 2}), InternalError);
}

}  // namespace
}  // namespace torus
