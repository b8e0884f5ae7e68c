// What an image model asks of a GPU, at the sizes where its kernels change their ways, held against
// the CPU. Needs a build with --config=emulated_gpu, or --config=cuda and a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/backward.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/convolution/convolution.h"
#include "ops/pooling/average_pool.h"
#include "ops/pooling/max_pool.h"
#include "runtime/batched_work.h"
#include "tests/ops/op_test.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/same_bits.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

using testing::ExpectAgreesOnGpu;
using testing::kFirstGpu;

class GpuImages : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  }
};

struct ConvCase {
  Shape image, weight;
  Conv2dOptions options;
};

// Sums of `terms` products of unit normals are as large as the root of terms on the way.
void ExpectConvolutionAgrees(const ConvCase& c) {
  SCOPED_TRACE(ToString(c.image) + " * " + ToString(c.weight));
  OddShapes shapes(3);
  const Tensor x = shapes.Normal(c.image), weight = shapes.Normal(c.weight);
  const int64_t filters = c.weight[0], in_filter = weight.numel() / filters;
  const int64_t per_input = in_filter / c.weight[3] * filters / c.options.groups;
  const Variable y = Conv2d(Variable(x), Variable(weight), {}, c.options);
  const int64_t pixels = y.data().numel() / filters;
  const int64_t terms = std::max(pixels, per_input);
  ExpectAgreesOnGpu(
      {.function =
           [&](const Variables& in) { return Variables{Conv2d(in[0], in[1], in[2], c.options)}; },
       .inputs = {x, weight, shapes.Normal({filters})},
       .terms = in_filter + 1,
       .gradient_terms = terms,
       .magnitude = std::sqrt(static_cast<double>(std::max(terms, in_filter)))});
}

// More than a tile of pixels, filters, taps; more pixels than one block adds; groups.
TEST_F(GpuImages, Convolutions) {
  ExpectConvolutionAgrees({{1, 9, 8, 3}, {65, 3, 3, 3}, {.padding = {1, 1}}});
  ExpectConvolutionAgrees({{2, 5, 5, 70}, {4, 3, 2, 70}, {.stride = {2, 1}, .padding = {1, 0}}});
  ExpectConvolutionAgrees({{1, 33, 34, 2}, {3, 2, 3, 2}, {.padding = {1, 1}}});
  ExpectConvolutionAgrees({{1, 46, 46, 1}, {2, 1, 1, 1}, {}});
  ExpectConvolutionAgrees({{3, 7, 6, 17}, {66, 1, 1, 17}, {}});
  ExpectConvolutionAgrees(
      {{2, 9, 7, 6}, {9, 3, 3, 2}, {.stride = {2, 3}, .dilation = {2, 1}, .groups = 3}});
}

TEST_F(GpuImages, DepthwiseConvolutions) {
  ExpectConvolutionAgrees({{2, 7, 6, 33}, {33, 3, 3, 1}, {.padding = {1, 1}, .groups = 33}});
  ExpectConvolutionAgrees(
      {{1, 9, 8, 5}, {5, 3, 2, 1}, {.stride = {2, 2}, .dilation = {1, 2}, .groups = 5}});
  ExpectConvolutionAgrees({{1, 12, 12, 1}, {1, 1, 1, 1}, {}});
}

// The sizes that have kernels of their own: rows and columns that no tile divides, tiles that hang
// over on all sides, more channels than a block takes, and more tiles than a part of the weights.
TEST_F(GpuImages, DepthwiseConvolutionsByTiles) {
  for (const int64_t kernel : {3, 5})
    for (const int64_t stride : {1, 2})
      for (const int64_t padding : {0, 1, 2, 4}) {
        const Dims strides{stride, stride};
        ExpectConvolutionAgrees({{2, 9, 8, 36},
                                 {36, kernel, kernel, 1},
                                 {.stride = strides, .padding = {padding, 2}, .groups = 36}});
        ExpectConvolutionAgrees({{1, 5, 6, 4},
                                 {4, kernel, kernel, 1},
                                 {.stride = strides, .padding = {1, padding}, .groups = 4}});
      }
  for (const int64_t stride : {1, 2})
    ExpectConvolutionAgrees({{2, 35, 34, 8},
                             {8, 3, 3, 1},
                             {.stride = {stride, stride}, .padding = {1, 1}, .groups = 8}});
  ExpectConvolutionAgrees(
      {{1, 6, 7, 8}, {8, 3, 3, 1}, {.padding_mode = PaddingMode::kSame, .groups = 8}});
  for (const int64_t side : {1, 2, 3, 4})  // smaller than a tile, or the kernel
    for (const int64_t stride : {1, 2})
      ExpectConvolutionAgrees({{2, side, side, 960},
                               {960, 3, 3, 1},
                               {.stride = {stride, stride}, .padding = {1, 1}, .groups = 960}});
}

TEST_F(GpuImages, AConvolutionOfNoChannelsIsItsBias) {
  const Tensor x({1, 2, 2, 0}, DType::kF32, kFirstGpu),
      weight({3, 1, 1, 0}, DType::kF32, kFirstGpu);
  const Tensor bias = FromVector<float>({1, 2, 3}, {3}).To(kFirstGpu);
  const Variable w(weight, true);
  const Variable y = Conv2d(Variable(x), w, Variable(bias));
  EXPECT_EQ(ToVector<float>(y.data()), (std::vector<float>{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}));
  Backward({y}, {Full(y.shape(), 1, DType::kF32, kFirstGpu)});
  EXPECT_EQ(w.grad().shape(), weight.shape());
}

// The same bits: all sums have the CPU's order.
void ExpectSame(const Tensor& there, const Tensor& here) {
  ASSERT_EQ(there.shape(), here.shape());
  const auto a = ToVector<double>(there.To(DType::kF64)),
             b = ToVector<double>(here.To(DType::kF64));
  for (size_t i = 0; i < a.size(); ++i)
    if (!std::isnan(a[i]) || !std::isnan(b[i])) {
      ASSERT_EQ(a[i], b[i]) << "element " << i;
    }
}

// Overlapping windows, tiles of channels, and windows that hang over.
TEST_F(GpuImages, MaxPoolingTakesAndGivesBackAsOnTheCpu) {
  OddShapes shapes(8);
  Tensor x = shapes.Normal({2, 9, 8, 67});
  float* const p = x.mutable_data<float>();
  for (int64_t i = 0; i < x.numel(); i += 7) p[i] = 1;  // ties
  p[5] = p[67 + 5] = NAN;
  for (const MaxPool2dOptions& options :
       {MaxPool2dOptions{.kernel_size = {3}, .stride = {2}, .padding = {1}, .ceil_mode = true},
        MaxPool2dOptions{.kernel_size = {2, 3}, .stride = {1}, .dilation = {3, 2}}}) {
    const Variable here(x, true), there(x.To(kFirstGpu), true);
    const MaxPoolResult y = MaxPool2dWithIndices(here, options);
    const MaxPoolResult z = MaxPool2dWithIndices(there, options);
    ExpectSame(z.output.data(), y.output.data());
    ExpectSame(z.indices, y.indices);
    const Tensor seed = shapes.Normal(y.output.shape());
    Backward({y.output}, {seed});
    Backward({z.output}, {seed.To(kFirstGpu)});
    ExpectSame(there.grad(), here.grad());
  }
}

void ExpectPoolsAlike(const Tensor& x, const std::function<Variable(const Variable&)>& pool) {
  const Variable here(x, true), there(x.To(kFirstGpu), true);
  const Variable y = pool(here), z = pool(there);
  ExpectSame(z.data(), y.data());
  const Tensor seed = OddShapes(1).Normal(y.shape());
  Backward({y}, {seed});
  Backward({z}, {seed.To(kFirstGpu)});
  ExpectSame(there.grad(), here.grad());
}

// The last has more windows than one launch hands over.
TEST_F(GpuImages, AveragePooling) {
  OddShapes shapes(9);
  const Tensor x = shapes.Normal({2, 9, 11, 5}), row = shapes.Normal({1, 1, 300, 2});
  ExpectPoolsAlike(x, [](const Variable& in) {
    return AvgPool2d(in, {.kernel_size = {3}, .stride = {2}, .padding = {1}, .ceil_mode = true});
  });
  ExpectPoolsAlike(x, [](const Variable& in) {
    return AvgPool2d(
        in,
        {.kernel_size = {4, 2}, .stride = {1, 3}, .padding = {2, 1}, .count_include_pad = false});
  });
  ExpectPoolsAlike(x, [](const Variable& in) { return AdaptiveAvgPool2d(in, {1}); });
  ExpectPoolsAlike(x, [](const Variable& in) { return AdaptiveAvgPool2d(in, {4, 13}); });
  ExpectPoolsAlike(row, [](const Variable& in) {
    return AvgPool2d(in, {.kernel_size = {1, 3}, .stride = {1, 1}, .padding = {0, 1}});
  });
}

// Around what a thread's burst, a block and a part take, with packs of channels and without, and
// more packs than a block has. Normal values lie within 5 of 0, weights within 2: the terms of dx
// are at most 2 * 5 * (2 + 5^2).
TEST_F(GpuImages, BatchNorm) {
  const auto compare = [](int64_t rows, int64_t channels) {
    OddShapes shapes(rows + channels);
    Tensor x = shapes.Normal({rows, channels});
    ExpectAgreesOnGpu(
        {.function =
             [](const Variables& in) {
               return Variables{BatchNormTrain(in[0], in[1], in[2], 1, Activation::kNone, in[3]).y};
             },
         .inputs = {x, shapes.Uniform({channels}, 0.5, 2), shapes.Normal({channels}),
                    shapes.Normal({rows, channels})},
         .terms = 64,
         .gradient_terms = 64,
         .magnitude = 270});
  };
  for (const int64_t rows : {2, 3, 31, 32, 33, 127, 128, 255, 256, 257, 4097})
    for (const int64_t channels : {1, 3, 4}) compare(rows, channels);
  compare(300, 36);
  compare(130, 70);
}

// Values that lie far from 0 lose no digits of their variance beyond those that they have
// themselves: each has an error of u |x|, 64 of which are added in f32.
TEST_F(GpuImages, StatisticsOfValuesFarFromZero) {
  for (int64_t rows : {64, 1000, 5000}) {
    Tensor x = OddShapes(rows).Normal({rows, 2});
    float* const p = x.mutable_data<float>();
    for (int64_t i = 0; i < x.numel(); ++i) p[i] = 1000 + std::ldexp(std::round(p[i] * 256), -8);
    const auto here = BatchNormTrain(Variable(x.To(DType::kF64)), {}, {});
    const auto there = BatchNormTrain(Variable(x.To(kFirstGpu)), {}, {});
    for (int64_t c = 0; c < 2; ++c) {
      const double mean = ToVector<double>(here.mean)[c], var = ToVector<double>(here.var)[c];
      EXPECT_NEAR(ToVector<float>(there.mean)[c], mean, testing::Tolerance(DType::kF32, 1, mean));
      // Squares of up to 5^2 each.
      EXPECT_NEAR(ToVector<float>(there.var)[c], var, testing::Tolerance(DType::kF32, 64, 25));
    }
  }
}

TEST_F(GpuImages, RunningAndMergedStatistics) {
  OddShapes shapes(4);
  const auto numbers = [&] { return shapes.Uniform({5}, 0.5, 2).To(DType::kF64); };
  Tensor mean = numbers(), var = numbers(), to_mean = numbers(), to_var = numbers();
  Tensor there_mean = to_mean.To(kFirstGpu), there_var = to_var.To(kFirstGpu);
  UpdateRunningStatistics(mean, var, 7, 0.3, to_mean, to_var);
  MergeStatistics(mean, var, 7, to_mean, to_var, 5);
  mean = mean.To(kFirstGpu);
  var = var.To(kFirstGpu);
  UpdateRunningStatistics(mean, var, 7, 0.3, there_mean, there_var);
  MergeStatistics(mean, var, 7, there_mean, there_var, 5);
  const double bound = testing::Tolerance(DType::kF64, 2, 2 * 12);
  for (size_t c = 0; c < 5; ++c) {
    EXPECT_NEAR(ToVector<double>(there_mean)[c], ToVector<double>(to_mean)[c], bound);
    EXPECT_NEAR(ToVector<double>(there_var)[c], ToVector<double>(to_var)[c], bound);
  }
}

// More layers than a launch takes, of all types; the bits of one by one.
TEST_F(GpuImages, RunningStatisticsOfManyLayersAtOnce) {
  constexpr int kLayers = 130;
  struct Layer {
    Tensor mean, var, batches;
  };
  const auto update_all = [] {
    std::vector<Layer> layers;
    for (int i = 0; i < kLayers; ++i) {
      OddShapes shapes(static_cast<uint64_t>(i));
      const DType batch = i % 3 == 0 ? DType::kF64 : DType::kF32,
                  running = i % 5 == 0 ? DType::kF64 : DType::kF32;
      const Shape channels{i % 7 == 0 ? 300 : 1 + i};
      const auto numbers = [&](DType dtype) {
        return shapes.Uniform(channels, 0.5, 2).To(dtype).To(kFirstGpu);
      };
      const Tensor mean = numbers(batch), var = numbers(batch);
      Layer& layer = layers.emplace_back(
          Layer{numbers(running), numbers(running), Full({}, i, DType::kI64, kFirstGpu)});
      UpdateRunningStatistics(mean, var, 7, 0.1 + 1e-3 * i, layer.mean, layer.var, &layer.batches);
    }
    return layers;
  };
  const std::vector<Layer> want = update_all();
  BatchedWork together;
  const std::vector<Layer> got = update_all();
  EXPECT_EQ(got[1].batches.Item(), 1) << "not yet";
  together.Finish();
  for (int i = 0; i < kLayers; ++i) {
    testing::ExpectSameBits(got[i].mean.To(Device{}), want[i].mean.To(Device{}));
    testing::ExpectSameBits(got[i].var.To(Device{}), want[i].var.To(Device{}));
    EXPECT_EQ(got[i].batches.Item(), i + 1);
  }
}

}  // namespace
}  // namespace torus::ops
