// Ops under a precision of the GPU's own products: what they give is low, gradients of weights are
// f32, and all agrees with the same precision emulated on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "autograd/backward.h"
#include "autograd/precision.h"
#include "ops/attention/attention.h"
#include "ops/convolution/convolution.h"
#include "runtime/on_device.h"
#include "tests/ops/cuda/cudnn/evaluate_graph.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/tolerance.h"
#include "tests/testing/twins.h"

namespace torus::ops {
namespace {

using Variables = std::vector<Variable>;
using Op = std::function<Variable(const Variables&)>;

class GpuNative : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
};

Variable Run(const Op& op, const Variables& inputs, const Tensor& dy, MatmulMode mode) {
  const WithPrecision precision({DType::kBF16, mode});
  const Variable y = op(inputs);
  Backward({y}, {dy.To(y.dtype()).To(y.data().device())});
  return y;
}

// Both round to bf16 whatever is low, in other orders of their sums.
void ExpectNear(const Tensor& got, const Tensor& want, int64_t terms) {
  const Tensor g = got.To(Device{}).To(DType::kF64).Contiguous();
  const Tensor w = want.To(DType::kF64).Contiguous();
  ASSERT_EQ(g.shape(), w.shape());
  double largest = 0;
  for (const double value : ToVector<double>(w)) largest = std::max(largest, std::abs(value));
  const double tolerance = testing::Tolerance(DType::kBF16, terms, largest);
  for (int64_t i = 0; i < w.numel(); ++i)
    ASSERT_NEAR(g.data<double>()[i], w.data<double>()[i], tolerance) << i;
}

void ExpectAgrees(const Op& op, const std::vector<Shape>& shapes, const Shape& out, int64_t terms) {
  testing::OddShapes random(13);
  Variables here, there;
  for (const Shape& shape : shapes) {
    here.emplace_back(random.Normal(shape).To(DType::kF32), true);
    there.push_back(testing::OnGpu(here.back()));
  }
  const Tensor dy = random.Normal(out);
  const Variable want = Run(op, here, dy, MatmulMode::kEmulated);
  const Variable got = Run(op, there, dy, MatmulMode::kNative);
  EXPECT_EQ(got.dtype(), DType::kBF16);
  ExpectNear(got.data(), want.data(), terms);
  for (size_t i = 0; i < here.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(there[i].grad().dtype(), DType::kF32);
    ExpectNear(there[i].grad(), here[i].grad(), terms);
  }
}

void ExpectAllAgree() {
  ExpectAgrees(
      [](const Variables& in) {
        return Conv2d(in[0], in[1], in[2], {.padding = {1, 1}});
      },
      {{2, 5, 4, 3}, {4, 3, 3, 3}, {4}}, {2, 5, 4, 4}, 40);
  ExpectAgrees([](const Variables& in) { return Conv2d(in[0], in[1], {}, {.groups = 6}); },
               {{1, 7, 6, 6}, {6, 3, 3, 1}}, {1, 5, 4, 6}, 20);
  ExpectAgrees(
      [](const Variables& in) {
        return ScaledDotProductAttention(in[0], in[1], in[2], {.is_causal = true});
      },
      {{2, 2, 6, 8}, {2, 2, 5, 8}, {2, 2, 5, 8}}, {2, 2, 6, 8}, 8);
}

TEST_F(GpuNative, AgreesWithTheCpuByOwnKernels) { ExpectAllAgree(); }

TEST_F(GpuNative, AgreesWithTheCpuByGraphs) {
  const testing::CountingStandIn stand_in;
  ExpectAllAgree();
  // Of each op but the depthwise convolution.
  EXPECT_EQ(stand_in.graphs(), kEmulatedGpu ? 3 + 2 : 0);
}

}  // namespace
}  // namespace torus::ops
