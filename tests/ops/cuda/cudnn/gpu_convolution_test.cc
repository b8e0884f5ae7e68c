// Convolution on a GPU by the graphs that cuDNN is given, and in 16 bits without them. Emulated, an
// evaluation of the graphs stands in for cuDNN; on a real GPU it is cuDNN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/convolution/convolution.h"
#include "ops/convolution/kernels.h"
#include "runtime/on_device.h"
#include "tests/ops/cuda/cudnn/evaluate_graph.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/tolerance.h"
#include "tests/testing/twins.h"

namespace torus::ops {
namespace {

using testing::kFirstGpu;
using Variables = std::vector<Variable>;

struct ConvCase {
  Shape image, weight;
  Conv2dOptions options;
};

const std::vector<ConvCase>& Cases() {
  static const std::vector<ConvCase> cases{
      {{2, 5, 4, 3}, {4, 3, 3, 3}, {.padding = {1, 1}}},
      {{1, 7, 6, 4}, {6, 3, 2, 2}, {.stride = {2, 1}, .dilation = {1, 2}, .groups = 2}},
      {{2, 4, 5, 3}, {3, 2, 4, 3}, {.padding_mode = PaddingMode::kSame}},
      {{3, 3, 2, 5}, {2, 1, 1, 5}, {}},
      {{1, 6, 5, 4}, {4, 3, 3, 1}, {.padding = {1, 1}, .groups = 4}}};
  return cases;
}

class GpuConvolution : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
};

TEST_F(GpuConvolution, GraphsAgreeWithTheCpuInF32) {
  const testing::CountingStandIn stand_in;
  for (const ConvCase& c : Cases()) {
    SCOPED_TRACE(ToString(c.image) + " * " + ToString(c.weight));
    testing::OddShapes shapes(5);
    const Tensor x = shapes.Normal(c.image), weight = shapes.Normal(c.weight);
    const int64_t terms = x.numel() + weight.numel();  // at least as many as any sum has
    testing::ExpectAgreesOnGpu(
        {.function =
             [&](const Variables& in) { return Variables{Conv2d(in[0], in[1], in[2], c.options)}; },
         .inputs = {x, weight, shapes.Normal({c.weight[0]})},
         .terms = terms,
         .gradient_terms = terms,
         .magnitude = std::sqrt(static_cast<double>(terms))});
  }
  EXPECT_EQ(stand_in.graphs() > 0, kEmulatedGpu);
}

// Values that `dtype` holds exactly, on the CPU in f64.
Tensor Exact(const Tensor& t, DType dtype) { return t.To(dtype).To(DType::kF64); }

// Each element to two roundings of the result's type, one of which may be of a sum that differs by
// `added`, and the error of an f32 sum.
void ExpectNear(const Tensor& got, const Tensor& want, DType rounded_to, int64_t terms,
                const char* what, double added = 0) {
  const Tensor g = got.To(Device{}).To(DType::kF64);
  ASSERT_EQ(g.shape(), want.shape());
  const double unit = testing::UnitRoundoff(rounded_to);
  const double sum = testing::Tolerance(DType::kF32, terms, std::sqrt(static_cast<double>(terms)));
  for (int64_t i = 0; i < want.numel(); ++i) {
    const double w = want.data<double>()[i];
    // Smaller than 2^-14 f16 has fewer bits.
    EXPECT_NEAR(g.data<double>()[i], w, 2 * unit * (std::abs(w) + added + 0x1p-13) + sum)
        << what << " " << i;
  }
}

struct LowRun {
  Tensor y, dx, dweight, dbias;
};

LowRun RunDoor(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
               const Tensor& dy, DType sums) {
  LowRun out{Tensor(dy.shape(), dy.dtype(), dy.device()), Tensor(x.shape(), x.dtype(), x.device()),
             Tensor(weight.shape(), sums, x.device()), Tensor(bias.shape(), sums, x.device())};
  kernels::ConvolutionForward(g, x, weight, bias, out.y);
  kernels::ConvolutionBackward(g, x, weight, dy, out.dx, out.dweight, out.dbias);
  return out;
}

double LargestOf(const Tensor& t) {
  const auto values = ToVector<double>(t);
  return std::abs(*std::ranges::max_element(values, {}, [](double v) { return std::abs(v); }));
}

// `bias_behind`: the bias is added to the rounded sum.
void ExpectLowAgrees(const ConvCase& c, DType dtype, bool bias_behind = false) {
  SCOPED_TRACE(ToString(c.image) + " * " + ToString(c.weight));
  const ConvGeometry g = ConvGeometryOf(c.image, c.weight, c.options);
  testing::OddShapes shapes(7);
  const Tensor x = Exact(shapes.Normal(c.image), dtype);
  const Tensor weight = Exact(shapes.Normal(c.weight), dtype);
  const Tensor dy = Exact(shapes.Normal({g.n, g.oh, g.ow, g.o}), dtype);
  const Tensor bias = Exact(shapes.Normal({g.o}), DType::kF32);
  const LowRun want = RunDoor(g, x, weight, bias, dy, DType::kF64);
  const auto low = [&](const Tensor& t) { return t.To(dtype).To(kFirstGpu); };
  const LowRun got =
      RunDoor(g, low(x), low(weight), bias.To(DType::kF32).To(kFirstGpu), low(dy), DType::kF32);
  const int64_t terms = x.numel() + weight.numel();
  ExpectNear(got.y, want.y, dtype, terms, "y", bias_behind ? LargestOf(bias) : 0);
  ExpectNear(got.dx, want.dx, dtype, terms, "dx");
  ExpectNear(got.dweight, want.dweight, dtype, terms, "dweight");
  ExpectNear(got.dbias, want.dbias, dtype, terms, "dbias");
}

TEST_F(GpuConvolution, OwnKernelsAgreeWithTheCpuInLowTypes) {
  if (!kEmulatedGpu) GTEST_SKIP() << "cuDNN takes these on a real GPU";
  for (const DType dtype : {DType::kBF16, DType::kF16})
    for (const ConvCase& c : Cases()) ExpectLowAgrees(c, dtype);
}

TEST_F(GpuConvolution, GraphsAgreeWithTheCpuInLowTypes) {
  const testing::CountingStandIn stand_in;
  const bool may_be_behind = !kEmulatedGpu;  // cuDNN does not fuse every bias
  for (const DType dtype : {DType::kBF16, DType::kF16})
    for (const ConvCase& c : Cases()) ExpectLowAgrees(c, dtype, may_be_behind);
  EXPECT_EQ(stand_in.graphs() > 0, kEmulatedGpu);
}

// Where cuDNN adds no bias and writes no f32 gradient, the op families do it after it.
TEST_F(GpuConvolution, WhatNoPlanFusesIsDoneBehindIt) {
  if (!kEmulatedGpu) GTEST_SKIP() << "needs --config=emulated_gpu";
  const testing::CountingStandIn stand_in([](const cuda::Graph& graph) {
    const bool mixed = graph.tensors[0].dtype != graph.tensors[2].dtype;
    return graph.nodes.size() == 1 && !mixed;
  });
  ExpectLowAgrees(Cases()[0], DType::kBF16, true);
  EXPECT_EQ(stand_in.graphs(), 3);
}

}  // namespace
}  // namespace torus::ops
