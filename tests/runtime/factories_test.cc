#include "runtime/factories.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/random_tensors.h"
#include "runtime/team_size_guard.h"
#include "tests/testing/error_of.h"

namespace torus {
namespace {

using testing::ErrorOf;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Ints = std::vector<int64_t>;

TEST(Factories, LikeAnotherTensor) {
  const Tensor like = Zeros({2, 3}, DType::kI32).Transpose(0, 1);
  for (const Tensor& made : {EmptyLike(like), ZerosLike(like), OnesLike(like), FullLike(like, 7)}) {
    EXPECT_EQ(made.Describe(), like.Describe());
    EXPECT_TRUE(made.is_contiguous());
  }
  EXPECT_EQ(ToVector<int32_t>(FullLike(like, 7)), std::vector<int32_t>(6, 7));
  EXPECT_EQ(ToVector<bool>(Ones({2}, DType::kBool)), (std::vector<bool>{true, true}));
  EXPECT_EQ(OnesLike(Zeros({2}, DType::kF32, kMetaDevice)).device(), kMetaDevice);
}

TEST(Factories, EyeOfAnyWidth) {
  EXPECT_EQ(ToVector<float>(Eye(2)), (Floats{1, 0, 0, 1}));
  EXPECT_EQ(ToVector<int64_t>(Eye(2, 3, DType::kI64)), (Ints{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(ToVector<float>(Eye(3, 1)), (Floats{1, 0, 0}));
  EXPECT_EQ(Eye(0).shape(), (Shape{0, 0}));
}

TEST(Factories, LinspaceEndsWhereItShould) {
  EXPECT_EQ(ToVector<float>(Linspace(0, 1, 5)), (Floats{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(ToVector<float>(Linspace(3, 4, 1)), (Floats{3}));
  EXPECT_EQ(Linspace(3, 4, 0).numel(), 0);
  EXPECT_EQ(ToVector<int64_t>(Linspace(0, 10, 4, DType::kI64)), (Ints{0, 3, 6, 10}));
  const Doubles thirds = ToVector<double>(Linspace(-0.1, 0.7, 1001, DType::kF64));
  EXPECT_EQ(thirds.front(), -0.1);
  EXPECT_EQ(thirds.back(), 0.7);
  EXPECT_NE(ErrorOf([] { Linspace(0, 1, -1); }), "no error");
}

TEST(Factories, ArangeOfIntegersAndOfNumbers) {
  EXPECT_EQ(ToVector<int64_t>(Arange(2, 7, 2)), (Ints{2, 4, 6}));
  EXPECT_EQ(ToVector<int64_t>(Arange(3, -3, -2)), (Ints{3, 1, -1}));
  EXPECT_EQ(ToVector<int64_t>(Arange(2, 2)), Ints{});
  EXPECT_EQ(ToVector<float>(Arange(0, 1, 0.25)), (Floats{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(ToVector<double>(Arange(0.5, 3, 1, DType::kF64)), (Doubles{0.5, 1.5, 2.5}));
  EXPECT_EQ(Arange(0, 4, 1, DType::kF32, kMetaDevice).Describe(), "f32 (4) on meta");
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ToVector<int64_t>(Arange(-most, most, most)), (Ints{-most, 0}));
  const int64_t quarter = int64_t{1} << 62;
  EXPECT_EQ(ToVector<int64_t>(Arange(-most, most, quarter)),
            (Ints{-most, -most + quarter, 1, 1 + quarter}));
  EXPECT_EQ(ErrorOf([] { Arange(0, 3, 0); }), "[arange] needs a step other than 0");
  EXPECT_EQ(ErrorOf([] { Arange(0, 3, -1); }), "[arange] steps of -1 lead from 0 away from 3");
  EXPECT_EQ(ErrorOf([] { Arange(0, -3.5); }), "[arange] steps of 1 lead from 0 away from -3.5");
  EXPECT_NE(ErrorOf([] { Arange(0, NAN); }), "no error");
  EXPECT_NE(ErrorOf([=] { Arange(-most, most); }), "no error");
}

TEST(Factories, NestedListsOfNumbers) {
  const Tensor matrix = TensorOf({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(matrix.Describe(), "i64 (2, 3) on cpu");
  EXPECT_EQ(ToVector<int64_t>(matrix), (Ints{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(ToVector<float>(TensorOf({{1, 2.5}})), (Floats{1, 2.5}));
  EXPECT_EQ(TensorOf({{1}, {2}}).shape(), (Shape{2, 1}));
  EXPECT_EQ(TensorOf({{{1.0}, {2.0}}}).shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(ToVector<bool>(TensorOf({true, false})), (std::vector<bool>{true, false}));
  EXPECT_EQ(TensorOf(3.5).Describe(), "f32 () on cpu");
  EXPECT_EQ(TensorOf({}).Describe(), "f32 (0) on cpu");
  EXPECT_EQ(TensorOf({1, 2}, DType::kF64).Describe(), "f64 (2) on cpu");
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ToVector<int64_t>(TensorOf({most})), (Ints{most}));
  EXPECT_EQ(ErrorOf([] {
              TensorOf({{1, 2}, {3}});
            }),
            "[tensor_of] lists of 2 and of 1 stand beside each other");
  EXPECT_EQ(ErrorOf([] { TensorOf({{1, 2}, 3}); }), "[tensor_of] a number stands beside lists");
  EXPECT_EQ(ErrorOf([] { TensorOf({1, {2}}); }), "[tensor_of] a list stands beside numbers");
}

TEST(FromBlob, SharesTheMemoryAndFreesItOnce) {
  Floats memory{1, 2, 3, 4, 5, 6};
  int freed = 0;
  {
    Tensor blob = FromBlob(memory.data(), {3, 2}, DType::kF32,
                           {.strides = Strides{1, 3}, .deleter = [&](void* data) {
                              EXPECT_EQ(data, memory.data());
                              ++freed;
                            }});
    EXPECT_EQ(ToVector<float>(blob), (Floats{1, 4, 2, 5, 3, 6}));
    const Tensor row = blob.Select(0, 2);
    blob = Tensor();
    EXPECT_EQ(freed, 0);
    memory[5] = 60;
    EXPECT_EQ(ToVector<float>(row), (Floats{3, 60}));
  }
  EXPECT_EQ(freed, 1);
  Tensor plain = FromBlob(memory.data(), {6});
  plain.mutable_data<float>()[0] = 10;
  EXPECT_EQ(memory[0], 10);
  EXPECT_EQ(FromBlob(nullptr, {0, 3}).numel(), 0);
}

TEST(FromBlob, WhatItRefusesStaysTheCallers) {
  Floats memory(6);
  int freed = 0;
  const auto with = [&](const Strides& strides) {
    return BlobOptions{.strides = strides, .deleter = [&](void*) { ++freed; }};
  };
  EXPECT_NE(ErrorOf([&] { FromBlob(memory.data(), {2, 3}, DType::kF32, with({1})); }), "no error");
  EXPECT_NE(ErrorOf([&] { FromBlob(memory.data(), {6}, DType::kF32, with({-1})); }), "no error");
  EXPECT_NE(ErrorOf([&] { FromBlob(memory.data(), {-6}); }), "no error");
  EXPECT_NE(ErrorOf([&] { FromBlob(nullptr, {6}, DType::kF32, with({1})); }), "no error");
  EXPECT_NE(ErrorOf([&] {
              FromBlob(memory.data(), {4, 4}, DType::kF32, with({INT64_MAX, 1}));
            }),
            "no error");
  EXPECT_NE(ErrorOf([&] { FromBlob(reinterpret_cast<char*>(memory.data()) + 1, {1}); }),
            "no error");
  EXPECT_NE(ErrorOf([&] { FromBlob(memory.data(), {6}, DType::kF32, {.device = kMetaDevice}); }),
            "no error");
  EXPECT_EQ(freed, 0);
}

TEST(RandomTensors, DependOnSeedAndCallAlone) {
  const auto draw = [](uint64_t seed) { return ToVector<float>(Rand({2, 50}, seed)); };
  const Floats one = draw(1);
  EXPECT_EQ(draw(1), one);
  EXPECT_NE(draw(2), one);
  Generator generator(1), again(1);
  const Floats first = ToVector<float>(Rand({100}, generator));
  EXPECT_NE(ToVector<float>(Rand({100}, generator)), first);
  EXPECT_EQ(ToVector<float>(Rand({100}, again)), first);
  const Tensor ints = RandInt(-5, 5, {10000}, 3);
  const TeamSizeGuard single(1);
  EXPECT_EQ(ToVector<int64_t>(RandInt(-5, 5, {10000}, 3)), ToVector<int64_t>(ints));
}

// Means of n independent numbers lie within 5 standard errors of the mean but once in two million.
TEST(RandomTensors, HaveTheMeansOfTheirDistributions) {
  const int n = 20000;
  const auto mean_of = [&](const Tensor& drawn) {
    const Doubles all = ToVector<double>(drawn.To(DType::kF64));
    return std::accumulate(all.begin(), all.end(), 0.0) / n;
  };
  EXPECT_NEAR(mean_of(Rand({n}, 7)), 0.5, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(mean_of(Randn({n}, 7, DType::kF64)), 0, 5 / std::sqrt(n));
  EXPECT_NEAR(mean_of(RandInt(-2, 3, {n}, 7)), 0, 5 * std::sqrt(2.0 / n));
  for (int64_t drawn : ToVector<int64_t>(RandInt(-2, 3, {n}, 8))) {
    ASSERT_GE(drawn, -2);
    ASSERT_LT(drawn, 3);
  }
}

TEST(RandomTensors, OfEveryTypeAndDevice) {
  EXPECT_EQ(Rand({3}, 1, DType::kBF16).Describe(), "bf16 (3) on cpu");
  EXPECT_EQ(Randn({3}, 1, DType::kF16, kMetaDevice).Describe(), "f16 (3) on meta");
  EXPECT_EQ(RandInt(0, 2, {3}, 1, DType::kU8).Describe(), "u8 (3) on cpu");
  EXPECT_EQ(RandInt(0, 2, {3}, 1, DType::kI64, kMetaDevice).Describe(), "i64 (3) on meta");
  EXPECT_EQ(Rand({0}, 1).numel(), 0);
  EXPECT_EQ(ErrorOf([] { Rand({1}, 1, DType::kI64); }),
            "[rand] needs a floating-point dtype, got i64");
  EXPECT_EQ(ErrorOf([] { RandInt(3, 3, {1}, 1); }), "[randint] needs low < high, got 3 and 3");
}

}  // namespace
}  // namespace torus
