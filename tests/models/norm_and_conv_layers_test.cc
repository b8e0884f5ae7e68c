// Layers of norms and convolutions: their parameters and first values, and that they compute what
// their ops do, which replay holds against PyTorch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/nn/batch_norm1d.h"
#include "models/nn/conv1d.h"
#include "models/nn/conv2d.h"
#include "models/nn/conv_transpose2d.h"
#include "models/nn/group_norm.h"
#include "models/nn/instance_norm2d.h"
#include "models/nn/rms_norm.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/convolution/convolution.h"
#include "ops/layer_norm/group_norm.h"
#include "ops/layer_norm/rms_norm.h"
#include "runtime/rng.h"
#include "tests/testing/same_bits.h"
#include "tests/testing/tolerance.h"

namespace torus::nn {
namespace {

Variable Values(const Shape& shape) {
  Tensor x = Empty(shape);
  FillNormal(x, 0, 1, RandomStream({.seed = 3}));
  return Variable(x);
}

// "name shape" of each parameter.
std::vector<std::string> Parameters(Module& module) {
  std::vector<std::string> all;
  for (const NamedVariable& p : module.Parameters())
    all.push_back(p.name + " " + ToString(p.value.shape()));
  return all;
}

using Names = std::vector<std::string>;

// Of many uniform values some come near the bounds, and none passes them.
void ExpectUniformWithin(double bound, const Tensor& values) {
  double largest = 0;
  for (const float v : ToVector<float>(values)) largest = std::max<double>(largest, std::fabs(v));
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.9 * bound);
}

TEST(RmsNorm, ScalesByAWeightThatStartsAsOnes) {
  RmsNorm norm({.width = 5, .eps = 0.5});
  norm.Initialize(0);
  EXPECT_EQ(Parameters(norm), Names{"weight (5)"});
  EXPECT_EQ(ToVector<float>(norm.weight().data()), std::vector<float>(5, 1));
  const Variable x = Values({3, 2, 5});
  testing::ExpectSameBits(norm.Forward(x, {}).data(), ops::RmsNorm(x, {5}, {}, 0.5).data());
}

TEST(RmsNorm, HasNoWeightUnlessAsked) {
  RmsNorm norm({.width = 5, .elementwise_affine = false});
  EXPECT_TRUE(norm.Parameters().empty());
  const Variable x = Values({3, 2, 5});
  testing::ExpectSameBits(norm.Forward(x, {}).data(), ops::RmsNorm(x, {5}).data());
}

TEST(GroupNorm, IsTheOpWithItsParameters) {
  GroupNorm norm({.groups = 2, .channels = 6}),
      plain({.groups = 2, .channels = 6, .affine = false});
  norm.Initialize(0);
  EXPECT_EQ(Parameters(norm), (Names{"weight (6)", "bias (6)"}));
  EXPECT_TRUE(plain.Parameters().empty());
  const Variable x = Values({2, 3, 3, 6});
  testing::ExpectSameBits(norm.Forward(x, {}).data(), ops::GroupNorm(x, 2).data());
  testing::ExpectSameBits(plain.Forward(x, {}).data(), ops::GroupNorm(x, 2).data());
}

TEST(InstanceNorm2d, HasParametersOnlyIfAsked) {
  InstanceNorm2d plain({.channels = 4}), affine({.channels = 4, .affine = true});
  EXPECT_TRUE(plain.Parameters().empty());
  EXPECT_EQ(Parameters(affine), (Names{"weight (4)", "bias (4)"}));
  const Variable x = Values({2, 3, 3, 4});
  testing::ExpectSameBits(plain.Forward(x, {}).data(), ops::InstanceNorm(x).data());
  EXPECT_THROW(plain.Forward(Values({2, 3, 3, 5}), {}), BadInput);
  EXPECT_THROW(plain.Forward(Values({2, 3, 4}), {}), BadInput);
}

// Mean and unbiased variance of channel c of image n.
std::pair<double, double> OfInstance(const Tensor& x, int64_t n, int64_t c) {
  const auto values = ToVector<float>(x.Select(0, n).Select(2, c).Contiguous());
  double sum = 0, squares = 0;
  for (const float v : values) sum += v;
  const double mean = sum / static_cast<double>(values.size());
  for (const float v : values) squares += (v - mean) * (v - mean);
  return {mean, squares / static_cast<double>(values.size() - 1)};
}

// torch.nn.InstanceNorm2d(4, momentum=0.3, track_running_stats=True): over the batch, the means of
// the images' means and of their unbiased variances.
TEST(InstanceNorm2d, TracksMeansOverImages) {
  // Sums over 12 pixels, then 3 images, of normal values and of their squares: over their numbers
  // such sums stay below 2.
  const double tolerance = testing::Tolerance(DType::kF32, 12 + 3, 2);
  const Variable x = Values({3, 3, 4, 4});
  InstanceNorm2d whole({.channels = 4, .momentum = 0.3, .track_running_stats = true}),
      parts({.channels = 4, .momentum = 0.3, .track_running_stats = true});
  for (InstanceNorm2d* norm : {&whole, &parts}) norm->Initialize(0);
  testing::ExpectSameBits(whole.Forward(x, {}).data(), ops::InstanceNorm(x).data());
  parts.Forward(Variable(x.data().Narrow(0, 0, 2)), {.micro_batch = 0});
  parts.Forward(Variable(x.data().Narrow(0, 2, 1)), {.micro_batch = 1});
  parts.Forward(Variable(x.data().Narrow(0, 2, 1)), {.micro_batch = 1});  // counts once
  parts.Forward(Variable(x.data().Narrow(0, 0, 0)), {.micro_batch = 2});
  for (InstanceNorm2d* norm : {&whole, &parts}) {
    norm->EndMiniBatch();
    norm->EndMiniBatch();  // nothing is left
    const std::vector<NamedTensor> buffers = norm->Buffers();
    ASSERT_EQ(buffers.size(), 3u);
    for (int64_t c = 0; c < 4; ++c) {
      double mean = 0, variance = 0;
      for (int64_t n = 0; n < 3; ++n) {
        const auto [m, v] = OfInstance(x.data(), n, c);
        mean += m / 3, variance += v / 3;
      }
      const auto at = static_cast<size_t>(c);
      EXPECT_NEAR(ToVector<float>(buffers[0].value)[at], 0.3 * mean, tolerance);
      EXPECT_NEAR(ToVector<float>(buffers[1].value)[at], 0.7 + 0.3 * variance, tolerance);
    }
    EXPECT_EQ(buffers[2].value.Item(), 0) << "as PyTorch's";
  }
}

TEST(InstanceNorm2d, EvaluatesWithWhatItHasTracked) {
  InstanceNorm2d norm({.channels = 4, .affine = true, .track_running_stats = true});
  norm.Initialize(0);
  const Variable x = Values({2, 3, 4, 4});
  norm.Forward(x, {});
  norm.EndMiniBatch(/*taken=*/false);
  EXPECT_EQ(ToVector<float>(norm.Buffers()[0].value), std::vector<float>(4, 0)) << "no step";
  norm.Forward(x, {});
  norm.EndMiniBatch();
  const std::vector<NamedTensor> buffers = norm.Buffers();
  EXPECT_EQ(buffers[0].name, "running_mean");
  EXPECT_EQ(buffers[1].name, "running_var");
  EXPECT_EQ(buffers[2].name, "num_batches_tracked");
  const StepContext evaluation{.training = false};
  const Variable weight = norm.Parameters()[0].value, bias = norm.Parameters()[1].value;
  testing::ExpectSameBits(
      norm.Forward(x, evaluation).data(),
      ops::BatchNormEval(x, buffers[0].value, buffers[1].value, weight, bias).data());
  EXPECT_EQ(norm.Forward(Values({1, 1, 1, 4}), evaluation).shape(), Shape({1, 1, 1, 4}));
  InstanceNorm2d untracked({.channels = 4});
  EXPECT_TRUE(untracked.Buffers().empty());
  testing::ExpectSameBits(untracked.Forward(x, evaluation).data(), ops::InstanceNorm(x).data());
}

TEST(InstanceNorm2d, PendingStatisticsAreNeitherReplacedNorPassedOver) {
  InstanceNorm2d norm({.channels = 4, .track_running_stats = true});
  norm.Initialize(0);
  const Variable x = Values({2, 3, 4, 4});
  norm.Forward(x, {.step = 3});
  EXPECT_THROW(norm.Forward(x, {.step = 4}), BadInput);
  EXPECT_THROW(norm.Forward(x, {.training = false}), BadInput);
  norm.EndMiniBatch();
  norm.Forward(x, {.step = 4});
}

// All replicas' images count, however they are divided.
TEST(InstanceNorm2d, SharesWithReplicas) {
  const Variable x = Values({3, 3, 4, 4});
  InstanceNorm2d whole({.channels = 4, .track_running_stats = true}),
      first({.channels = 4, .track_running_stats = true}),
      second({.channels = 4, .track_running_stats = true});
  for (InstanceNorm2d* norm : {&whole, &first, &second}) norm->Initialize(0);
  whole.Forward(Variable(x.data().Narrow(0, 0, 1)), {.micro_batch = 0});
  whole.Forward(Variable(x.data().Narrow(0, 1, 2)), {.micro_batch = 1});
  whole.EndMiniBatch();
  first.Forward(Variable(x.data().Narrow(0, 0, 1)), {});
  second.Forward(Variable(x.data().Narrow(0, 1, 2)), {});
  KeptStatistics all;
  second.Share([&](KeptStatistics own) {
    all[1] = own.at(0);
    return own;
  });
  first.Share([&](KeptStatistics own) {
    all[0] = own.at(0);
    return all;
  });
  first.EndMiniBatch();
  for (size_t i = 0; i < 2; ++i)
    testing::ExpectSameBits(first.Buffers()[i].value, whole.Buffers()[i].value);
}

TEST(BatchNorm1d, TakesVectorsAndSequences) {
  BatchNorm1d norm({.channels = 4});
  norm.Initialize(0);
  BatchNorm2d images({.channels = 4});
  images.Initialize(0);
  const StepContext training{.training = true};
  const Variable x = Values({6, 5, 4});
  const Tensor y = norm.Forward(x, training).data();
  testing::ExpectSameBits(y, images.Forward(x, training).data());
  norm.EndMiniBatch();
  EXPECT_NE(ToVector<float>(norm.Buffers()[0].value), std::vector<float>(4, 0));
  EXPECT_EQ(norm.Forward(Values({6, 4}), training).shape(), Shape({6, 4}));
  EXPECT_THROW(norm.Forward(Values({2, 3, 3, 4}), training), BadInput);
}

TEST(Conv1d, StartsAsPyTorchsDoes) {
  Conv1d layer({.in = 8, .out = 64, .kernel = 5, .padding = 2, .groups = 2});
  layer.Initialize(0);
  EXPECT_EQ(Parameters(layer), (Names{"weight (64, 5, 4)", "bias (64)"}));
  for (const NamedVariable& p : layer.Parameters())
    ExpectUniformWithin(1 / std::sqrt(20.0), p.value.data());
  EXPECT_EQ(layer.Forward(Values({2, 7, 8}), {}).shape(), Shape({2, 7, 64}));
}

TEST(ConvTranspose2d, StartsAsPyTorchsDoes) {
  ConvTranspose2d layer({.in = 8,
                         .out = 64,
                         .kernel = {3, 2},
                         .stride = 2,
                         .padding = {1, 0},
                         .output_padding = 1,
                         .groups = 2});
  layer.Initialize(0);
  EXPECT_EQ(Parameters(layer), (Names{"weight (8, 3, 2, 32)", "bias (64)"}));
  for (const NamedVariable& p : layer.Parameters())
    ExpectUniformWithin(1 / std::sqrt(3 * 2 * 32.0), p.value.data());
  EXPECT_EQ(layer.Forward(Values({2, 4, 5, 8}), {}).shape(), Shape({2, 8, 11, 64}));
}

TEST(Conv2d, Dilates) {
  Conv2d layer({.in = 2, .out = 3, .kernel = 3, .dilation = {1, 2}});
  layer.Initialize(0);
  const Variable x = Values({1, 7, 7, 2});
  testing::ExpectSameBits(
      layer.Forward(x, {}).data(),
      ops::Conv2d(x, layer.weight(), layer.bias(), {.dilation = {1, 2}}).data());
}

TEST(NormAndConvLayers, RefuseWhatDoesNotFit) {
  EXPECT_THROW(RmsNorm({.width = 0}), BadInput);
  EXPECT_THROW(GroupNorm({.groups = 4, .channels = 6}), BadInput);
  EXPECT_THROW(InstanceNorm2d({.channels = 0}), BadInput);
  EXPECT_THROW(Conv1d({.in = 3, .out = 4, .groups = 2}), BadInput);
  EXPECT_THROW(ConvTranspose2d({.in = 3, .out = 4, .groups = 2}), BadInput);
}

}  // namespace
}  // namespace torus::nn
