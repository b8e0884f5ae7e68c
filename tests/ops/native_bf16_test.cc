// Ops that compute in bf16 by the processor's own products, against f64 on the rounded inputs: sums
// are f32, and what is bf16 is rounded once.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "autograd/backward.h"
#include "autograd/precision.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/conv_chain/conv_chain.h"
#include "ops/convolution/convolution.h"
#include "ops/loss/linear_cross_entropy.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/matmul.h"
#include "ops/precision/native.h"
#include "ops/reduction/reduction.h"
#include "runtime/error.h"
#include "runtime/rng.h"
#include "runtime/vector_unit.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

constexpr Precision kNativeBf16{DType::kBF16, Products::kNative};
constexpr double kUnitRoundoff = 0x1p-8;  // of bf16, which has eight significant bits

class NativeBf16 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasBf16Products())
      GTEST_SKIP()
          << "this processor has neither AVX512_BF16 nor AMX_BF16: native bf16 is NOT tested";
  }
};

Tensor Random(const Shape& shape, uint64_t seed) {
  Tensor values = Empty(shape);
  FillNormal(values, 0, 1, RandomStream({.seed = seed}));
  return values;
}

Variable Leaf(const Shape& shape, uint64_t seed) { return Variable(Random(shape, seed), true); }

Tensor Exact(const Tensor& t) { return t.To(DType::kF64).Contiguous(); }

double LargestOf(const Tensor& t) {
  double largest = 0;
  const Tensor exact = Exact(t);
  for (int64_t i = 0; i < exact.numel(); ++i)
    largest = std::max(largest, std::abs(exact.data<double>()[i]));
  return largest;
}

// Each element to its own rounding and the error of an f32 sum of `terms` products.
void ExpectNear(const Tensor& got, const Tensor& want, double rounding, int64_t terms,
                const char* what) {
  ASSERT_EQ(got.shape(), want.shape());
  const Tensor g = Exact(got), w = Exact(want);
  // Partial sums of random signs reach some times the largest sum.
  const double sums = testing::Tolerance(DType::kF32, terms, 4 * LargestOf(want));
  for (int64_t i = 0; i < g.numel(); ++i) {
    const double y = w.data<double>()[i];
    ASSERT_NEAR(g.data<double>()[i], y, rounding * std::abs(y) + sums) << what << " " << i;
  }
}

using Op = std::function<Variable(const std::vector<Variable>&)>;

// A tensor that is rounded once is bf16 or was cast back from it; others are f32 as summed.
double RoundingOf(bool low) { return low ? kUnitRoundoff : 0; }

// Activations come first, then weights; gradients of activations alone are rounded.
void ExpectNative(const Op& op, const std::vector<Variable>& inputs, size_t activations,
                  int64_t terms) {
  std::vector<Variable> exact;
  for (size_t i = 0; i < inputs.size(); ++i) {
    // Biases are not rounded.
    const bool rounded = inputs[i].rank() > 1;
    exact.push_back(
        Variable(Exact(rounded ? inputs[i].data().To(DType::kBF16) : inputs[i].data()), true));
  }
  const Variable got = [&] {
    const WithPrecision low(kNativeBf16);
    return op(inputs);
  }();
  const Variable want = op(exact);
  EXPECT_EQ(got.dtype(), DType::kBF16);
  ExpectNear(got.data(), want.data(), RoundingOf(true), terms, "output");
  const Tensor dy = Random(want.shape(), 99).To(DType::kBF16);
  Backward({got}, {dy});
  Backward({want}, {Exact(dy)});
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(inputs[i].grad().dtype(), DType::kF32);
    ExpectNear(inputs[i].grad(), exact[i].grad(), RoundingOf(i < activations), terms, "gradient");
  }
}

TEST_F(NativeBf16, LinearRoundsActivationsOnceAndGradientsOfWeightsNever) {
  for (const int64_t rows : {1, 5, 300}) {
    ExpectNative([](const auto& v) { return Linear(v[0], v[1], v[2]); },
                 {Leaf({rows, 71}, 1), Leaf({33, 71}, 2), Leaf({33}, 3)}, 1, 300);
    ExpectNative([](const auto& v) { return LinearInOut(v[0], v[1]); },
                 {Leaf({rows, 71}, 1), Leaf({71, 40}, 2)}, 1, 300);
  }
}

// From 4096 rows the right operand is packed whole: the gradient of a weight of many rows.
TEST_F(NativeBf16, ManyRowsPackTheRightOperand) {
  ExpectNative([](const auto& v) { return Linear(v[0], v[1]); },
               {Leaf({3, 24}, 1), Leaf({4100, 24}, 2)}, 1, 4100);
}

TEST_F(NativeBf16, MatricesOfABatch) {
  ExpectNative([](const auto& v) { return Matmul(v[0], v[1]); },
               {Leaf({2, 4, 5}, 1), Leaf({2, 5, 3}, 2)}, 2, 5);
  ExpectNative([](const auto& v) { return Matmul(v[0], v[1]); },
               {Leaf({6, 4, 50}, 1), Leaf({50, 30}, 2)}, 2, 50);
  // The batch of one side is repeated, and its gradient summed back.
  ExpectNative([](const auto& v) { return Matmul(v[0], v[1]); },
               {Leaf({1, 4, 5}, 1), Leaf({3, 5, 6}, 2)}, 2, 18);
}

TEST_F(NativeBf16, SumsOverNothingAreTheBias) {
  const Variable x(Empty({3, 0})), w(Empty({2, 0})), b(Full({2}, 1.5));
  const WithPrecision low(kNativeBf16);
  const Tensor y = Linear(x, w, b).data().To(DType::kF32);
  for (int64_t i = 0; i < y.numel(); ++i) EXPECT_EQ(y.data<float>()[i], 1.5f);
}

TEST_F(NativeBf16, ALossBehindAProductIsFull) {
  constexpr int64_t kRows = 40, kWidth = 24, kClasses = 90;
  const std::vector<Variable> in{Leaf({kRows, kWidth}, 1), Leaf({kClasses, kWidth}, 2),
                                 Leaf({kClasses}, 3)};
  Tensor numbers({kRows}, DType::kI64);
  for (int64_t r = 0; r < kRows; ++r) numbers.mutable_data<int64_t>()[r] = 7 * r % kClasses;
  const Variable target(numbers);
  std::vector<Variable> exact;
  for (const Variable& v : in)
    exact.push_back(Variable(Exact(v.rank() > 1 ? v.data().To(DType::kBF16) : v.data()), true));
  const Variable got = [&] {
    const WithPrecision low(kNativeBf16);
    return LinearCrossEntropy(in[0], in[1], in[2], target);
  }();
  const Variable want = LinearCrossEntropy(exact[0], exact[1], exact[2], target);
  EXPECT_EQ(got.dtype(), DType::kF32);
  // Logits of some five deviations of a sum of kWidth products.
  EXPECT_NEAR(got.data().Item(), want.data().Item(),
              testing::Tolerance(DType::kF32, kRows + kClasses + kWidth, 5 * std::sqrt(kWidth)));
  Backward({got});
  Backward({want});
  // The gradients of the logits are rounded; those of a class sum to at most 1 over the rows, those
  // of a row to 2 / rows.
  const double largest[] = {2.0 / kRows * LargestOf(in[1].data()), LargestOf(in[0].data()), 1};
  for (size_t i = 0; i < in.size(); ++i) {
    const Tensor g = Exact(in[i].grad()), w = exact[i].grad();
    const double bound =
        kUnitRoundoff * largest[i] + testing::Tolerance(DType::kF32, kRows + kClasses, largest[i]);
    for (int64_t j = 0; j < g.numel(); ++j)
      ASSERT_NEAR(g.data<double>()[j], w.data<double>()[j], bound) << i << " " << j;
  }
}

struct Convolution {
  const char* name;
  Shape x, weight;
  Conv2dOptions options;
};

// One of each way that a geometry may take.
TEST_F(NativeBf16, ConvolutionsOfEveryForm) {
  const Convolution cases[] = {
      {"pointwise", {3, 5, 5, 24}, {17, 1, 1, 24}, {}},
      {"dense", {2, 9, 7, 16}, {20, 3, 3, 16}, {.padding = {1, 1}}},
      {"few channels", {2, 9, 7, 3}, {20, 5, 3, 3}, {.stride = {2, 1}, .padding = {2, 1}}},
      {"strided", {2, 8, 8, 4}, {6, 1, 1, 4}, {.stride = {2, 2}}},
      {"strided wide", {2, 8, 8, 32}, {6, 1, 1, 32}, {.stride = {2, 2}}},
      {"small image", {9, 2, 2, 16}, {20, 3, 3, 16}, {.padding = {1, 1}}},
      {"depthwise", {2, 9, 7, 12}, {12, 3, 3, 1}, {.padding = {1, 1}, .groups = 12}},
      {"grouped", {2, 9, 7, 12}, {8, 3, 3, 6}, {.padding = {1, 1}, .groups = 2}},
      {"dilated", {1, 9, 9, 5}, {7, 3, 3, 5}, {.dilation = {2, 2}}},
  };
  for (const Convolution& c : cases) {
    SCOPED_TRACE(c.name);
    ExpectNative([&](const auto& v) { return Conv2d(v[0], v[1], v[2], c.options); },
                 {Leaf(c.x, 1), Leaf(c.weight, 2), Leaf({c.weight[0]}, 3)}, 1, 300);
  }
}

// In f32 between its ends: only what goes in and comes out is rounded.
TEST_F(NativeBf16, AChainOfThinConvolutionsIsFusedInF32) {
  const Variable x = Leaf({2, 6, 6, 8}, 1), w = Leaf({24, 1, 1, 8}, 2), g = Leaf({24}, 3),
                 b = Leaf({24}, 4);
  const std::vector<ConvNorm> layers{{.weight = w, .norm_weight = g, .norm_bias = b}};
  const Variable want = ConvChainTrain(Variable(x.data()), layers).y;
  const WithPrecision low(kNativeBf16);
  const Variable got = ConvChainTrain(x, layers).y;
  EXPECT_EQ(got.dtype(), DType::kBF16);
  const Tensor rounded = want.data().To(DType::kBF16);
  EXPECT_EQ(std::memcmp(got.data().raw(), rounded.raw(), rounded.bytes()), 0);
  Backward({Sum(got)});
  EXPECT_EQ(w.grad().dtype(), DType::kF32);
}

TEST_F(NativeBf16, ADenseConvolutionAndItsNormAreComposed) {
  const Variable x = Leaf({2, 6, 6, 8}, 1), w = Leaf({24, 3, 3, 8}, 2), g = Leaf({24}, 3),
                 b = Leaf({24}, 4);
  const WithPrecision low(kNativeBf16);
  const ConvChainResult got = ConvChainTrain(x, {{.weight = w, .norm_weight = g, .norm_bias = b}});
  const Tensor want = BatchNormTrain(Conv2d(x, w), g, b).y.data();
  EXPECT_EQ(std::memcmp(got.y.data().raw(), want.raw(), want.bytes()), 0);
}

TEST_F(NativeBf16, LeavesF64Alone) {
  const Variable a(Random({3, 4}, 1).To(DType::kF64)), b(Random({5, 4}, 2).To(DType::kF64));
  const WithPrecision low(kNativeBf16);
  EXPECT_EQ(Linear(a, b).dtype(), DType::kF64);
}

TEST(NativePrecision, IsRefusedToOpsThatComputeInF32) {
  const Variable x = Leaf({2}, 1);
  const WithPrecision low(kNativeBf16);
  EXPECT_THROW(ComputesNatively("softmax", x), BadInput);
}

TEST(NativePrecision, IsOffUnlessAskedFor) {
  const Variable x = Leaf({2}, 1);
  EXPECT_FALSE(ComputesNatively("linear", x));
  const WithPrecision emulated(DType::kBF16);
  EXPECT_FALSE(ComputesNatively("linear", x));
}

}  // namespace
}  // namespace torus::ops
