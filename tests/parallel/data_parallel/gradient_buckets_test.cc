#include "parallel/data_parallel/gradient_buckets.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

std::vector<NamedVariable> Parameters(const std::vector<int64_t>& sizes,
                                      DType dtype = DType::kF32) {
  std::vector<NamedVariable> parameters;
  for (size_t i = 0; i < sizes.size(); ++i) {
    parameters.push_back({fmt::format("p{}", i), Variable(Zeros({sizes[i]}, dtype), true)});
  }
  return parameters;
}

std::vector<int64_t> Sizes(const GradientBuckets& buckets) {
  std::vector<int64_t> sizes;
  for (int i = 0; i < buckets.size(); ++i) sizes.push_back(buckets.bucket(i).numel());
  return sizes;
}

TEST(GradientBuckets, TakeTheLastLayersFirstUpToTheSize) {
  const GradientBuckets buckets(Parameters({3, 4, 5, 20, 1}), 10 * sizeof(float));
  EXPECT_EQ(Sizes(buckets), (std::vector<int64_t>{1 + 1, 20 + 1, 9 + 2, 3 + 1}));
  EXPECT_EQ(buckets.Describe(2), "bucket 2 (p2 .. p1)");
  EXPECT_EQ(GradientBuckets(Parameters({3, 4, 5}), 1 << 20).size(), 1);
  EXPECT_EQ(GradientBuckets(Parameters({3, 4, 5}), 0).size(), 3);
  EXPECT_EQ(GradientBuckets({}, 10).size(), 0);
}

TEST(GradientBuckets, DoNotMixTypes) {
  std::vector<NamedVariable> mixed = Parameters({2, 2});
  for (const NamedVariable& p : Parameters({3}, DType::kF64)) mixed.push_back(p);
  const GradientBuckets buckets(mixed, 1 << 20);
  EXPECT_EQ(Sizes(buckets), (std::vector<int64_t>{3 + 1, 4 + 2}));
  EXPECT_EQ(buckets.bucket(0).dtype(), DType::kF64);
  EXPECT_THROW(GradientBuckets(Parameters({2}, DType::kF16), 10), BadInput);
}

// Wherever slices lie and however long they are, the buckets of the others are the same.
TEST(GradientBuckets, SlicesLieApart) {
  for (const int64_t slice : {1, 9}) {
    const GradientBuckets buckets(Parameters({3, slice, 5, slice, 1}), 6 * sizeof(float), {},
                                  {"p1", "p3"});
    std::vector<std::string> whole;
    for (int i = 0; i < buckets.size(); ++i) {
      std::string names;
      for (const NamedVariable& p : buckets.parameters(i)) names += p.name;
      if (names.find("p1") == std::string::npos && names.find("p3") == std::string::npos)
        whole.push_back(names);
    }
    EXPECT_EQ(whole, (std::vector<std::string>{"p4p2", "p0"})) << slice;
  }
}

// A bucket that waits for the model's first layer comes behind those that are whole before.
TEST(GradientBuckets, ComeInTheOrderInWhichABackwardFinishesThem) {
  const GradientBuckets buckets(Parameters({1, 8, 1, 8, 1}), 10 * sizeof(float), {}, {"p1", "p3"});
  std::vector<std::string> last;
  for (int i = 0; i < buckets.size(); ++i) last.push_back(buckets.parameters(i).back().name);
  EXPECT_EQ(last, (std::vector<std::string>{"p3", "p1", "p0"}));
}

TEST(GradientBuckets, GoThereAndBack) {
  std::vector<NamedVariable> p = Parameters({2, 3});
  p[1].value.SetGrad(FromVector<float>({1, 2, 3}, {3}));
  GradientBuckets buckets(p, 1 << 20);
  buckets.Fill(0);
  EXPECT_EQ(ToVector<float>(buckets.bucket(0)), (std::vector<float>{1, 2, 3, 0, 0, 1, 0}));
  float* flat = buckets.bucket(0).mutable_data<float>();
  for (int i = 0; i < 7; ++i) flat[i] = static_cast<float>(10 * i);
  buckets.Unfill(0);
  EXPECT_EQ(ToVector<float>(p[0].value.grad()), (std::vector<float>{30, 40}));
  EXPECT_EQ(ToVector<float>(p[1].value.grad()), (std::vector<float>{0, 10, 20}));
}

TEST(GradientBuckets, WhatNoReplicaHasAGradientForGetsNone) {
  std::vector<NamedVariable> p = Parameters({2, 3});
  p[1].value.SetGrad(FromVector<float>({1, 2, 3}, {3}));
  GradientBuckets buckets(p, 1 << 20);
  buckets.Fill(0);
  buckets.Unfill(0);
  EXPECT_FALSE(p[0].value.grad().defined());
  EXPECT_EQ(ToVector<float>(p[1].value.grad()), (std::vector<float>{1, 2, 3}));
}

TEST(GradientBuckets, AStridedGradientKeepsItsOrder) {
  std::vector<NamedVariable> p{{"w", Variable(Zeros({2, 3}), true)}};
  p[0].value.SetGrad(FromVector<float>({1, 2, 3, 4, 5, 6}, {3, 2}).Transpose(0, 1));
  GradientBuckets buckets(p, 1 << 20);
  buckets.Fill(0);
  EXPECT_EQ(ToVector<float>(buckets.bucket(0)), (std::vector<float>{1, 3, 5, 2, 4, 6, 1}));
  buckets.Unfill(0);
  EXPECT_EQ(ToVector<float>(p[0].value.grad()), (std::vector<float>{1, 3, 5, 2, 4, 6}));
}

}  // namespace
}  // namespace torus::parallel
