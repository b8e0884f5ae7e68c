// Rows and sums of the lengths at which a GPU's kernels change their ways: a warp, a block, several
// parts. Needs a build with --config=emulated_gpu, or --config=cuda and a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/layer_norm/layer_norm.h"
#include "ops/layer_norm/rms_norm.h"
#include "ops/reduction/cumsum.h"
#include "ops/reduction/extremum.h"
#include "ops/reduction/logsumexp.h"
#include "ops/reduction/reduction.h"
#include "ops/softmax/softmax.h"
#include "tests/ops/op_test.h"
#include "tests/testing/on_gpu.h"

namespace torus::ops {
namespace {

using testing::ExpectAgreesOnGpu;
using testing::kFirstGpu;

constexpr int64_t kLengths[] = {1, 2, 31, 32, 33, 255, 256, 257, 511, 4095, 4097, 9000};

class GpuRows : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
};

// Each output lies behind sums of n terms, whose partial sums reach `magnitude` where they cancel.
Twin RowsTwin(const std::function<Variable(const Variables&)>& f, const std::vector<Tensor>& inputs,
              int64_t n, double magnitude = 0) {
  return {.function = [f](const Variables& in) { return Variables{f(in)}; },
          .inputs = inputs,
          .terms = n,
          .gradient_terms = n,
          .magnitude = magnitude};
}

TEST_F(GpuRows, SoftmaxAndItsLogarithm) {
  for (int64_t n : kLengths) {
    OddShapes shapes(n);
    const Tensor x = shapes.Normal({3, n});
    ExpectAgreesOnGpu(RowsTwin([](const Variables& in) { return Softmax(in[0], -1); }, {x}, n));
    ExpectAgreesOnGpu(RowsTwin([](const Variables& in) { return LogSoftmax(in[0], -1); }, {x}, n));
    ExpectAgreesOnGpu(RowsTwin([](const Variables& in) { return LogSumExp(in[0], {-1}); }, {x}, n));
  }
}

// Weights' gradients are sums over rows, of which there are more than one thread adds. Rows are
// long enough that none has a variance near 0, by which its gradients would cancel.
TEST_F(GpuRows, LayerNormAndRmsNorm) {
  for (int64_t n : {31, 33, 64, 256, 257, 1000, 1028, 4100}) {
    const int64_t rows = n < 100 || n == 1000 ? 150 : n < 1000 ? 20 : 3;
    OddShapes shapes(n);
    ExpectAgreesOnGpu(RowsTwin(
        [n](const Variables& in) { return LayerNorm(in[0], Shape{n}, in[1], in[2]); },
        {shapes.Normal({rows, n}), shapes.Normal({n}), shapes.Normal({n})}, std::max(n, rows)));
    ExpectAgreesOnGpu(RowsTwin([n](const Variables& in) { return RmsNorm(in[0], Shape{n}, in[1]); },
                               {shapes.Normal({rows, n}), shapes.Normal({n})}, std::max(n, rows)));
  }
}

// Sums of n terms of random sign are as large as the root of n on the way.
TEST_F(GpuRows, SumsAlongAndAcross) {
  for (int64_t n : kLengths) {
    OddShapes shapes(n);
    const double root = std::sqrt(static_cast<double>(n));
    for (const Shape& shape : {Shape{2, n, 1}, Shape{2, n, 3}}) {
      const Tensor x = shapes.Normal(shape);
      ExpectAgreesOnGpu(
          RowsTwin([](const Variables& in) { return Sum(in[0], {1}); }, {x}, n, root));
      ExpectAgreesOnGpu(
          RowsTwin([](const Variables& in) { return Mean(in[0], {1}); }, {x}, n, 1 / root));
      ExpectAgreesOnGpu(
          RowsTwin([](const Variables& in) { return Cumsum(in[0], 1); }, {x}, n, root));
    }
  }
}

// The first of the largest; NaN is larger than all.
TEST_F(GpuRows, ArgmaxFindsTheFirst) {
  for (int64_t n : kLengths) {
    Tensor x = Zeros({4, n});
    float* p = x.mutable_data<float>();
    for (int64_t i = 0; i < n; ++i) p[i] = static_cast<float>(i % 7);
    for (int64_t i = n / 2; i < n; ++i) p[n + i] = 3;
    p[2 * n + n / 3] = NAN;
    p[2 * n + n - 1] = NAN;
    for (int64_t i = 0; i < n; ++i) p[3 * n + i] = -std::numeric_limits<float>::infinity();
    EXPECT_EQ(ToVector<int64_t>(Argmax(x.To(kFirstGpu), 1)), ToVector<int64_t>(Argmax(x, 1))) << n;
  }
}

// A row of -inf alone has no softmax; NaN reaches the whole row and no other.
TEST_F(GpuRows, SoftmaxOfValuesThatAreNoNumbers) {
  for (int64_t n : {3, 300}) {
    Tensor x = Zeros({4, n});
    float* p = x.mutable_data<float>();
    p[1] = NAN;
    p[n] = -INFINITY;
    for (int64_t i = 0; i < n; ++i) p[2 * n + i] = -INFINITY;
    p[3 * n] = INFINITY;
    const auto here = ToVector<float>(Softmax(Variable(x), -1).data());
    const auto there = ToVector<float>(Softmax(Variable(x.To(kFirstGpu)), -1).data());
    for (size_t i = 0; i < here.size(); ++i) {
      EXPECT_EQ(std::isnan(there[i]), std::isnan(here[i])) << i;
      if (!std::isnan(here[i])) {
        EXPECT_NEAR(there[i], here[i], 4 * std::numeric_limits<float>::epsilon()) << i;
      }
    }
  }
}

TEST_F(GpuRows, AnOpOfARoomWithoutKernelsIsNamed) {
  EXPECT_TRUE(testing::RunsOnGpu([] { Softmax(Variable(Zeros({2}, DType::kF32, kFirstGpu)), 0); }));
  const auto fails = [](const char* op) {
    return [op] { Throw<BadInput>(op, "has no kernel for {}", kFirstGpu); };
  };
  EXPECT_FALSE(testing::RunsOnGpu(fails("conv_chain")));
  EXPECT_THROW(testing::RunsOnGpu(fails("softmax")), BadInput);
}

}  // namespace
}  // namespace torus::ops
