// Ops of several inputs whose kernels for GPUs read 16 bits as they are: the same bits as by way of
// copies in f32. Needs a build with --config=emulated_gpu, or --config=cuda and a GPU.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "autograd/backward.h"
#include "autograd/precision.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/dropout/dropout.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/elementwise.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/layer_norm/rms_norm.h"
#include "ops/pooling/average_pool.h"
#include "ops/pooling/max_pool.h"
#include "ops/view/view.h"
#include "tests/ops/op_test.h"
#include "tests/testing/error_of.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/same_bits.h"

namespace torus::ops {
namespace {

using testing::kFirstGpu;
using Variables = std::vector<Variable>;
using Op = std::function<Variable(const Variables&)>;

class LowBits : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
};

struct Input {
  Shape shape;
  DType dtype;
};

struct Outcome {
  Tensor y;
  std::vector<Tensor> gradients;
};

Outcome RunOn(const Op& op, const std::vector<Input>& inputs) {
  testing::OddShapes random(17);
  Variables leaves;
  for (const Input& input : inputs)
    leaves.emplace_back(random.Normal(input.shape).To(input.dtype).To(kFirstGpu), true);
  const Variable y = op(leaves);
  Backward({y}, {random.Normal(y.shape()).To(y.dtype()).To(kFirstGpu)});
  Outcome outcome{y.data(), {}};
  for (const Variable& leaf : leaves) outcome.gradients.push_back(leaf.grad());
  return outcome;
}

// Widened before and rounded behind, what the kernels then see is f32.
Op ThroughF32(const Op& op, DType result) {
  return [=](const Variables& inputs) {
    Variables wide;
    for (const Variable& input : inputs) wide.push_back(Cast(input, DType::kF32));
    return Cast(op(wide), result);
  };
}

void ExpectBitsOfF32(const Op& op, const std::vector<Input>& inputs, DType result) {
  const Outcome low = RunOn(op, inputs), wide = RunOn(ThroughF32(op, result), inputs);
  testing::ExpectSameBits(low.y, wide.y, "y");
  for (size_t i = 0; i < inputs.size(); ++i)
    testing::ExpectSameBits(low.gradients[i], wide.gradients[i], "gradient");
}

TEST_P(LowBits, OfSumsDifferencesAndProducts) {
  const DType low = GetParam();
  for (const Op& op : {Op([](const Variables& v) { return Add(v[0], v[1]); }),
                       Op([](const Variables& v) { return Sub(v[0], v[1]); }),
                       Op([](const Variables& v) { return Mul(v[0], v[1]); })}) {
    ExpectBitsOfF32(op, {{{7, 33}, low}, {{7, 33}, low}}, low);
    ExpectBitsOfF32(op, {{{7, 1, 33}, low}, {{5, 1}, low}}, low);
    ExpectBitsOfF32(op, {{{1}, low}, {{300}, low}}, low);
  }
}

// A cast would be the op that the result is of.
TEST_P(LowBits, OfSumsDifferencesAndProductsNeedNoCasts) {
  const Variable x(Full({3}, 1, GetParam()).To(kFirstGpu), true);
  const auto error = [](const Variable& y) { return testing::ErrorOf([&] { y.grad(); }); };
  EXPECT_NE(error(Add(x, x)).find("is a result of add"), std::string::npos);
  EXPECT_NE(error(Sub(x, x)).find("is a result of sub"), std::string::npos);
  EXPECT_NE(error(Mul(x, x)).find("is a result of mul"), std::string::npos);
}

TEST_P(LowBits, OfAnUndefinedFactorAreRefused) {
  const Variable x(Full({3}, 1, GetParam()).To(kFirstGpu)), none;
  EXPECT_TRUE(testing::ErrorOf([&] { Mul(x, none); }).starts_with("[mul] needs defined inputs"));
}

// Under a precision the sum of f32 and 16 bits is f32; without one it is refused.
TEST_P(LowBits, OfSumsOfTwoTypes) {
  const DType low = GetParam();
  const Op add = [](const Variables& v) { return Add(v[0], v[1]); };
  EXPECT_THROW(RunOn(add, {{{3}, low}, {{3}, DType::kF32}}), BadInput);
  const WithPrecision precision({low, MatmulMode::kNative});
  for (const bool first : {true, false}) {
    const DType a = first ? low : DType::kF32, b = first ? DType::kF32 : low;
    ExpectBitsOfF32(add, {{{7, 33}, a}, {{7, 33}, b}}, DType::kF32);
    ExpectBitsOfF32(add, {{{4, 7, 33}, a}, {{33}, b}}, DType::kF32);
    ExpectBitsOfF32(add, {{{33}, a}, {{4, 7, 33}, b}}, DType::kF32);
  }
}

TEST_P(LowBits, OfDropout) {
  StepContext context{.seed = 3, .step = 5};
  context.samples = {4, 9, 11};
  const Op drop = [&](const Variables& v) { return Dropout(v[0], 0.3, context, 2); };
  ExpectBitsOfF32(drop, {{{6, 37}, GetParam()}}, GetParam());
}

// Dropped and added in one pass, forward and backward: the bits of two ops. Samples of 37 elements
// end within four words, which go one by one.
TEST_P(LowBits, OfADropoutAndASumInOnePass) {
  StepContext context{.seed = 3, .step = 5};
  context.samples = {4, 9, 11};
  const WithPrecision precision({GetParam(), MatmulMode::kNative});
  for (const int64_t n : {36, 37})
    for (const DType residual : {GetParam(), DType::kF32}) {
      const auto run = [&](const Op& op) {
        return RunOn(op, {{{6, n}, GetParam()}, {{6, n}, residual}});
      };
      const Outcome got =
          run([&](const Variables& v) { return DropoutAdd(v[0], v[1], 0.3, context, 2); });
      const Outcome want =
          run([&](const Variables& v) { return Add(Dropout(v[0], 0.3, context, 2), v[1]); });
      testing::ExpectSameBits(got.y, want.y, "y");
      for (int i : {0, 1}) testing::ExpectSameBits(got.gradients[i], want.gradients[i], "gradient");
    }
}

TEST_P(LowBits, OfPooling) {
  const DType low = GetParam();
  const auto expect = [&](const Op& pool) { ExpectBitsOfF32(pool, {{{2, 9, 7, 5}, low}}, low); };
  expect([](const Variables& v) {
    return MaxPool2d(v[0], {.kernel_size = {3}, .stride = {2}, .padding = {1}});
  });
  expect([](const Variables& v) { return AvgPool2d(v[0], {.kernel_size = {2}, .padding = {1}}); });
  expect([](const Variables& v) { return AdaptiveAvgPool2d(v[0], {2, 3}); });
}

Op Norm(Activation activation, bool trains) {
  return [=](const Variables& v) {
    const Variable residual = v.size() > 3 ? v[3] : Variable();
    if (trains) return BatchNormTrain(v[0], v[1], v[2], 1e-5, activation, residual, {}).y;
    const Tensor mean = Full({5}, 0.25, DType::kF32, kFirstGpu);
    const Tensor var = Full({5}, 2, DType::kF32, kFirstGpu);
    return BatchNormEval(v[0], mean, var, v[1], v[2], 1e-5, activation, residual);
  };
}

// With a residual and an activation, too, where the mask needs y before it is rounded.
TEST_P(LowBits, OfBatchNorm) {
  const DType low = GetParam(), full = DType::kF32;
  const Shape images{3, 9, 7, 5};
  for (const Activation activation : {Activation::kNone, Activation::kRelu, Activation::kRelu6})
    for (const bool trains : {true, false}) {
      const Op norm = Norm(activation, trains);
      ExpectBitsOfF32(norm, {{images, low}, {{5}, full}, {{5}, full}}, low);
      ExpectBitsOfF32(norm, {{images, low}, {{5}, full}, {{5}, full}, {images, low}}, low);
    }
}

// 5.999 passes ReLU6 but is 6, which does not, once it is rounded.
TEST_P(LowBits, OfBatchNormsMaskBeforeRounding) {
  const Shape images{2, 3, 5};
  const Tensor zeros = Zeros({5}, DType::kF32, kFirstGpu),
               ones = Full({5}, 1, DType::kF32, kFirstGpu);
  const Variable x(testing::OddShapes(5).Normal(images).To(GetParam()).To(kFirstGpu), true);
  const Variable residual(Zeros(images, GetParam(), kFirstGpu), true);
  const Variable bias(Full({5}, 5.999, DType::kF32, kFirstGpu));
  const Variable y =
      BatchNormEval(x, zeros, ones, Variable(zeros), bias, 1e-5, Activation::kRelu6, residual);
  testing::ExpectSameBits(y.data(), Full(images, 6, GetParam()), "y");
  const Tensor dy = Full(images, 3, GetParam(), kFirstGpu);
  Backward({y}, {dy});
  testing::ExpectSameBits(residual.grad(), dy, "gradient of the residual");
}

// Rows that a warp, a block and several blocks share, and one whose elements lie apart from packs.
TEST_P(LowBits, OfLayerNorm) {
  const DType low = GetParam(), full = DType::kF32;
  const WithPrecision precision({low, MatmulMode::kNative});
  for (const int64_t n : {5, 64, 260, 1032, 4100}) {
    const Op norm = [n](const Variables& v) { return LayerNorm(v[0], {n}, v[1], v[2]); };
    for (const DType x : {low, full})
      ExpectBitsOfF32(norm, {{{19, n}, x}, {{n}, full}, {{n}, full}}, low);
  }
}

TEST_P(LowBits, OfRmsNorm) {
  const DType low = GetParam(), full = DType::kF32;
  const WithPrecision precision({low, MatmulMode::kNative});
  for (const int64_t n : {5, 260, 4100}) {
    const Op norm = [n](const Variables& v) { return RmsNorm(v[0], {n}, v[1], 1e-6); };
    for (const DType x : {low, full}) ExpectBitsOfF32(norm, {{{19, n}, x}, {{n}, full}}, low);
  }
}

// x + norm(x), whose backward adds the gradient of the sum in the norm's pass: the bits of adding
// it behind that.
TEST_P(LowBits, OfLayerNormsGradientWithTheOneBesideIt) {
  const WithPrecision precision({GetParam(), MatmulMode::kNative});
  for (const int64_t n : {5, 64, 260, 4100})
    for (const DType dtype : {GetParam(), DType::kF32}) {
      testing::OddShapes random(n);
      const auto normal = [&](const Shape& shape, DType type) {
        return random.Normal(shape).To(type).To(kFirstGpu);
      };
      const Variable x(normal({19, n}, dtype), true), weight(normal({n}, DType::kF32), true);
      const Variable inner = Reshape(x, {19, n});
      const Tensor dy = normal({19, n}, dtype);
      Backward({Add(inner, LayerNorm(inner, {n}, weight))}, {dy});
      const Variable alone(x.data(), true);
      Backward({LayerNorm(alone, {n}, weight)}, {dy.To(GetParam())});
      testing::ExpectSameBits(x.grad(), Add(Variable(alone.grad()), Variable(dy)).data(), "dx");
    }
}

// As without a precision, where all have the low type and the result is rounded to it.
TEST_P(LowBits, OfLayerNormInTheLowTypeAlone) {
  const DType low = GetParam();
  const Op norm = [](const Variables& v) { return LayerNorm(v[0], {33}, v[1], v[2]); };
  ExpectBitsOfF32(norm, {{{7, 33}, low}, {{33}, low}, {{33}, low}}, low);
}

TEST_P(LowBits, OfBatchNormsStatistics) {
  const Tensor x = testing::OddShapes(3).Normal({200, 5}).To(GetParam()).To(kFirstGpu);
  const auto of = [](const Tensor& x) {
    return BatchNormTrain(Variable(x), Variable(), Variable(), 1e-5, Activation::kNone, Variable(),
                          {});
  };
  const BatchNormResult low = of(x), wide = of(x.To(DType::kF32));
  testing::ExpectSameBits(low.mean, wide.mean, "mean");
  testing::ExpectSameBits(low.var, wide.var, "var");
  EXPECT_EQ(low.count, wide.count);
}

INSTANTIATE_TEST_SUITE_P(Types, LowBits, ::testing::Values(DType::kBF16, DType::kF16),
                         [](const auto& info) { return std::string(Name(info.param)); });

}  // namespace
}  // namespace torus::ops
