// Ops that compute in a low type by the device's own products, against f64 on the rounded inputs:
// sums are f32, and what is low is rounded once.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "autograd/backward.h"
#include "autograd/precision.h"
#include "ops/attention/attention.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/conv_chain/conv_chain.h"
#include "ops/convolution/convolution.h"
#include "ops/elementwise/elementwise.h"
#include "ops/loss/linear_cross_entropy.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/matmul.h"
#include "ops/precision/native.h"
#include "ops/reduction/reduction.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/on_device.h"
#include "runtime/rng.h"
#include "runtime/vector_unit.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

Tensor Random(const Shape& shape, uint64_t seed) {
  Tensor values = Empty(shape);
  FillNormal(values, 0, 1, RandomStream({.seed = seed}));
  return values;
}

Tensor Exact(const Tensor& t) { return t.To(Device{}).To(DType::kF64).Contiguous(); }

double LargestOf(const Tensor& t) {
  double largest = 0;
  const Tensor exact = Exact(t);
  for (int64_t i = 0; i < exact.numel(); ++i)
    largest = std::max(largest, std::abs(exact.data<double>()[i]));
  return largest;
}

// Each element to its own rounding, that of `rounded_too` and the error of an f32 sum of `terms`
// products.
void ExpectNear(const Tensor& got, const Tensor& want, double rounding, int64_t terms,
                const char* what, const Tensor& rounded_too = {}) {
  ASSERT_EQ(got.shape(), want.shape());
  const Tensor g = Exact(got), w = Exact(want);
  const Tensor more = rounded_too.defined() ? Exact(rounded_too) : Zeros(w.shape(), DType::kF64);
  // Partial sums of random signs reach some times the largest sum.
  const double sums = testing::Tolerance(DType::kF32, terms, 4 * LargestOf(want));
  for (int64_t i = 0; i < g.numel(); ++i) {
    const double y = w.data<double>()[i];
    const double sizes = std::abs(y) + std::abs(more.data<double>()[i]);
    ASSERT_NEAR(g.data<double>()[i], y, rounding * sizes + sums) << what << " " << i;
  }
}

using Op = std::function<Variable(const std::vector<Variable>&)>;

// Where ops compute, and in which type.
struct Place {
  Device device;
  DType low;
};

class NativeLow : public ::testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (OnCpu() && !HasBf16Products())
      GTEST_SKIP()
          << "this processor has neither AVX512_BF16 nor AMX_BF16: native bf16 is NOT tested";
    if (!OnCpu() && !testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
  bool OnCpu() const { return GetParam().device == Device{}; }
  DType low() const { return GetParam().low; }
  Precision native() const { return {low(), MatmulMode::kNative}; }
  double unit_roundoff() const { return testing::UnitRoundoff(low()); }
  // A tensor that is rounded once is low or was cast back from it; others are f32 as summed.
  double RoundingOf(bool is_low) const { return is_low ? unit_roundoff() : 0; }

  Variable There(const Tensor& t, bool requires_grad = false) const {
    return Variable(t.To(GetParam().device), requires_grad);
  }
  Variable Leaf(const Shape& shape, uint64_t seed) const {
    return There(Random(shape, seed), true);
  }
  bool OnRealGpu() const { return !OnCpu() && !kEmulatedGpu; }
  // The values that an op takes.
  Tensor Taken(const Variable& v, bool rounds_bias) const {
    return Exact(v.rank() > 1 || rounds_bias ? v.data().To(low()) : v.data());
  }
  // What else may be rounded to the low type: the bias that is taken, the result before it is
  // added, the gradients of weights.
  struct More {
    bool bias = false, product = false, weights = false;
  };
  void ExpectNative(const Op& op, const std::vector<Variable>& inputs, size_t activations,
                    int64_t terms, const More& more) const;
  void ExpectNative(const Op& op, const std::vector<Variable>& inputs, size_t activations,
                    int64_t terms) const {
    ExpectNative(op, inputs, activations, terms, More());
  }
};

// Its tests run on GPUs too.
class NativeProducts : public NativeLow {};

// Activations come first, then weights; gradients of activations alone are rounded.
void NativeLow::ExpectNative(const Op& op, const std::vector<Variable>& inputs, size_t activations,
                             int64_t terms, const More& more) const {
  std::vector<Variable> exact;
  for (const Variable& input : inputs) exact.push_back(Variable(Taken(input, more.bias), true));
  const Variable got = [&] {
    const WithPrecision with(native());
    return op(inputs);
  }();
  const Variable want = op(exact);
  EXPECT_EQ(got.dtype(), low());
  std::vector<Variable> unbiased = exact;
  unbiased.back() = Variable();
  ExpectNear(got.data(), want.data(), RoundingOf(true), terms, "output",
             more.product ? op(unbiased).data() : Tensor());
  const Tensor dy = Random(want.shape(), 99).To(low());
  Backward({got}, {dy.To(GetParam().device)});
  Backward({want}, {Exact(dy)});
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(inputs[i].grad().dtype(), DType::kF32);
    ExpectNear(inputs[i].grad(), exact[i].grad(),
               RoundingOf(i < activations || (more.weights && inputs[i].rank() > 1)), terms,
               "gradient");
  }
}

TEST_P(NativeProducts, LinearRoundsActivationsOnceAndGradientsOfWeightsNever) {
  for (const int64_t rows : {1, 5, 300}) {
    ExpectNative([](const auto& v) { return Linear(v[0], v[1], v[2]); },
                 {Leaf({rows, 71}, 1), Leaf({33, 71}, 2), Leaf({33}, 3)}, 1, 300,
                 {.bias = !OnCpu(), .product = OnRealGpu()});
    ExpectNative([](const auto& v) { return LinearInOut(v[0], v[1]); },
                 {Leaf({rows, 71}, 1), Leaf({71, 40}, 2)}, 1, 300);
  }
}

// What the input of a product gets from a sum beside it: on a GPU the product adds to it and rounds
// once, elsewhere its own gradient is rounded before.
TEST_P(NativeProducts, AddToTheGradientOfAResidual) {
  for (const bool in_out : {false, true}) {
    const Op op = [&](const std::vector<Variable>& v) {
      const Variable x = Neg(v[0]);
      return Add(in_out ? LinearInOut(x, v[1]) : Linear(x, v[1]), x);
    };
    const Variable x = There(Random({9, 40}, 1).To(low()), true), w = Leaf({40, 40}, 2);
    const Variable exact_x(Exact(x.data()), true), exact_w(Exact(w.data().To(low())), true);
    const Variable y = [&] {
      const WithPrecision with(native());
      return op({x, w});
    }();
    const Tensor dy = Random(y.shape(), 99).To(low());
    Backward({y}, {dy.To(GetParam().device)});
    Backward({op({exact_x, exact_w})}, {Exact(dy)});
    Tensor own = exact_x.grad().Clone();
    AddInPlace(own, Exact(dy));  // dx = -(dy + dy W), so this is -dy W
    ExpectNear(x.grad(), exact_x.grad(), RoundingOf(true), 40, "gradient",
               OnCpu() ? own : Tensor());
    ExpectNear(w.grad(), exact_w.grad(), 0, 9, "gradient of the weight");
  }
}

// From 4096 rows the right operand is packed whole: the gradient of a weight of many rows.
TEST_P(NativeProducts, ManyRowsPackTheRightOperand) {
  ExpectNative([](const auto& v) { return Linear(v[0], v[1]); },
               {Leaf({3, 24}, 1), Leaf({4100, 24}, 2)}, 1, 4100);
}

TEST_P(NativeProducts, MatricesOfABatch) {
  ExpectNative([](const auto& v) { return Matmul(v[0], v[1]); },
               {Leaf({2, 4, 5}, 1), Leaf({2, 5, 3}, 2)}, 2, 5);
  ExpectNative([](const auto& v) { return Matmul(v[0], v[1]); },
               {Leaf({6, 4, 50}, 1), Leaf({50, 30}, 2)}, 2, 50);
  // The batch of one side is repeated, and its gradient summed back.
  ExpectNative([](const auto& v) { return Matmul(v[0], v[1]); },
               {Leaf({1, 4, 5}, 1), Leaf({3, 5, 6}, 2)}, 2, 18);
}

TEST_P(NativeProducts, SumsOverNothingAreTheBias) {
  const Variable x = There(Empty({3, 0})), w = There(Empty({2, 0})), b = There(Full({2}, 1.5));
  const WithPrecision with(native());
  const Tensor y = Linear(x, w, b).data().To(Device{}).To(DType::kF32);
  for (int64_t i = 0; i < y.numel(); ++i) EXPECT_EQ(y.data<float>()[i], 1.5f);
}

TEST_P(NativeProducts, ALossBehindAProductIsFull) {
  constexpr int64_t kRows = 40, kWidth = 24, kClasses = 90;
  const std::vector<Variable> in{Leaf({kRows, kWidth}, 1), Leaf({kClasses, kWidth}, 2),
                                 Leaf({kClasses}, 3)};
  Tensor numbers({kRows}, DType::kI64);
  for (int64_t r = 0; r < kRows; ++r) numbers.mutable_data<int64_t>()[r] = 7 * r % kClasses;
  std::vector<Variable> exact;
  // Logits are f32, and so is their bias on any device.
  for (const Variable& v : in)
    exact.push_back(Variable(Exact(v.rank() > 1 ? v.data().To(low()) : v.data()), true));
  const Variable got = [&] {
    const WithPrecision with(native());
    return LinearCrossEntropy(in[0], in[1], in[2], There(numbers));
  }();
  const Variable want = LinearCrossEntropy(exact[0], exact[1], exact[2], Variable(numbers));
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
    const double bound = unit_roundoff() * largest[i] +
                         testing::Tolerance(DType::kF32, kRows + kClasses, largest[i]);
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
TEST_P(NativeProducts, ConvolutionsOfEveryForm) {
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
    // cuDNN rounds the gradients of weights that are neither a product nor ours.
    const std::string_view name = c.name;
    const bool full = name == "pointwise" || name == "depthwise";
    ExpectNative([&](const auto& v) { return Conv2d(v[0], v[1], v[2], c.options); },
                 {Leaf(c.x, 1), Leaf(c.weight, 2), Leaf({c.weight[0]}, 3)}, 1, 300,
                 {.product = OnRealGpu(), .weights = OnRealGpu() && !full});
  }
}

// In f32 between its ends: only what goes in and comes out is rounded.
TEST_P(NativeLow, AChainOfThinConvolutionsIsFusedInF32) {
  const Variable x = Leaf({2, 6, 6, 8}, 1), w = Leaf({24, 1, 1, 8}, 2), g = Leaf({24}, 3),
                 b = Leaf({24}, 4);
  const std::vector<ConvNorm> layers{{.weight = w, .norm_weight = g, .norm_bias = b}};
  const Variable want = ConvChainTrain(Variable(x.data()), layers).y;
  const WithPrecision with(native());
  const Variable got = ConvChainTrain(x, layers).y;
  EXPECT_EQ(got.dtype(), low());
  const Tensor rounded = want.data().To(low());
  EXPECT_EQ(std::memcmp(got.data().raw(), rounded.raw(), rounded.bytes()), 0);
  Backward({Sum(got)});
  EXPECT_EQ(w.grad().dtype(), DType::kF32);
}

TEST_P(NativeLow, ADenseConvolutionAndItsNormAreComposed) {
  const Variable x = Leaf({2, 6, 6, 8}, 1), w = Leaf({24, 3, 3, 8}, 2), g = Leaf({24}, 3),
                 b = Leaf({24}, 4);
  const WithPrecision with(native());
  const ConvChainResult got = ConvChainTrain(x, {{.weight = w, .norm_weight = g, .norm_bias = b}});
  const Tensor want = BatchNormTrain(Conv2d(x, w), g, b).y.data();
  EXPECT_EQ(std::memcmp(got.y.data().raw(), want.raw(), want.bytes()), 0);
}

// The error's norm divided by that of `want`.
double RelativeError(const Tensor& got, const Tensor& want) {
  const Tensor g = Exact(got), w = Exact(want);
  double error = 0, whole = 0;
  for (int64_t i = 0; i < g.numel(); ++i) {
    const double y = w.data<double>()[i], difference = g.data<double>()[i] - y;
    error += difference * difference, whole += y * y;
  }
  return std::sqrt(error / whole);
}

// Weights and gradients of scores are rounded before they are multiplied, and so are the result
// (which the backward reads) and the gradients: at most three roundings, of half a unit each,
// meet in one number.
TEST_P(NativeLow, AttentionSumsInF32OverRoundedWeights) {
  const double bound = 3 * unit_roundoff() / 2;
  struct Case {
    int64_t heads, key_heads, rows, keys;
    bool causal, masked;
  };
  for (const Case& c : {Case{3, 3, 70, 70, false, false}, Case{2, 2, 300, 300, true, false},
                        Case{4, 2, 5, 290, false, true}, Case{2, 1, 1, 33, false, false}}) {
    std::vector<Variable> in{Leaf({2, c.heads, c.rows, 40}, 1),
                             Leaf({2, c.key_heads, c.keys, 40}, 2),
                             Leaf({2, c.key_heads, c.keys, 24}, 3)};
    AttentionOptions options;
    options.is_causal = c.causal;
    options.enable_gqa = c.heads != c.key_heads;
    Tensor mask({c.rows, c.keys}, DType::kBool);
    // The first row attends to nothing.
    for (int64_t i = 0; i < mask.numel(); ++i) mask.mutable_data<bool>()[i] = i >= c.keys && i % 3;
    if (c.masked) options.attn_mask = Variable(mask);
    std::vector<Variable> exact;
    for (const Variable& v : in) exact.push_back(Variable(Taken(v, true), true));
    const Variable got = [&] {
      const WithPrecision with(native());
      return ScaledDotProductAttention(in[0], in[1], in[2], options);
    }();
    const Variable want = ScaledDotProductAttention(exact[0], exact[1], exact[2], options);
    EXPECT_EQ(got.dtype(), low());
    EXPECT_LE(RelativeError(got.data(), want.data()), bound);
    const Tensor dy = Random(want.shape(), 99).To(low());
    Backward({got}, {dy});
    Backward({want}, {Exact(dy)});
    for (size_t i = 0; i < in.size(); ++i)
      EXPECT_LE(RelativeError(in[i].grad(), exact[i].grad()), bound) << "input " << i;
  }
}

TEST_P(NativeLow, LeavesF64Alone) {
  const Variable a(Random({3, 4}, 1).To(DType::kF64)), b(Random({5, 4}, 2).To(DType::kF64));
  const WithPrecision with(native());
  EXPECT_EQ(Linear(a, b).dtype(), DType::kF64);
}

constexpr Place kOnCpu{{}, DType::kBF16};

std::string PlaceName(const ::testing::TestParamInfo<Place>& info) {
  return fmt::format("{}_{}", info.param.device == Device{} ? "cpu" : "gpu", Name(info.param.low));
}

INSTANTIATE_TEST_SUITE_P(Places, NativeLow, ::testing::Values(kOnCpu), PlaceName);
INSTANTIATE_TEST_SUITE_P(Places, NativeProducts,
                         ::testing::Values(kOnCpu, Place{testing::kFirstGpu, DType::kBF16},
                                           Place{testing::kFirstGpu, DType::kF16}),
                         PlaceName);

TEST(NativePrecision, IsRefusedToOpsThatComputeInF32) {
  const Variable x(Random({2}, 1));
  const WithPrecision native({DType::kBF16, MatmulMode::kNative});
  EXPECT_THROW(ComputesNatively("softmax", x), BadInput);
}

TEST(NativePrecision, IsOffUnlessAskedFor) {
  const Variable x(Random({2}, 1));
  EXPECT_FALSE(ComputesNatively("linear", x));
  const WithPrecision emulated(DType::kBF16);
  EXPECT_FALSE(ComputesNatively("linear", x));
}

}  // namespace
}  // namespace torus::ops
