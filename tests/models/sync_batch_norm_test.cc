// Layers that normalise over replicas, whether or not they would run fused by themselves.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "models/mobilenet_v2/inverted_residual.h"
#include "models/nn/conv_bn_relu6.h"
#include "parallel/collectives/communicator.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/rng.h"
#include "tests/testing/tolerance.h"

namespace torus {
namespace {

constexpr int64_t kIn = 3, kOut = 5, kSide = 4;
const std::vector<int64_t> kImages{1, 3};  // of each replica

Tensor Normal(const Shape& shape, uint64_t seed) {
  Tensor x(shape, DType::kF64);
  FillNormal(x, 0.5, 1.5, RandomStream({.seed = seed}));
  return x;
}

struct Results {
  Tensor y, dx;
  std::vector<Tensor> gradients, buffers;
};

// A step over some of the images.
Results Train(int64_t begin, int64_t images, const GatherReplicas& gather) {
  nn::ConvBnRelu6 layer({.in = kIn, .out = kOut, .kernel = 3, .padding = 1, .dtype = DType::kF64});
  layer.Initialize(1);
  const Tensor all = Normal({4, kSide, kSide, kIn}, 2), grad = Normal({4, kSide, kSide, kOut}, 3);
  const Variable x(all.Narrow(0, begin, images).Clone(), true);
  const Variable y = layer.Forward(x, {.gather_replicas = gather});
  Backward({y}, {grad.Narrow(0, begin, images).Clone()});
  layer.EndMiniBatch();
  Results results{y.data(), x.grad()};
  for (const NamedVariable& p : layer.Parameters()) results.gradients.push_back(p.value.grad());
  for (const NamedTensor& b : layer.Buffers())
    results.buffers.push_back(b.value.To(DType::kF64).Clone());
  return results;
}

std::vector<Results> TrainReplicas() {
  std::vector<Results> results(kImages.size());
  parallel::RunRanks(static_cast<int>(kImages.size()), [&](parallel::Transport& t) {
    parallel::Communicator replicas(t);
    results[t.rank()] =
        Train(t.rank() == 0 ? 0 : kImages[0], kImages[t.rank()],
              [&](const Tensor& own) { return replicas.AllGather(own, "batch norm"); });
  });
  return results;
}

std::vector<double> Joined(const Tensor& a, const Tensor& b) {
  std::vector<double> values = ToVector<double>(a);
  for (const double value : ToVector<double>(b)) values.push_back(value);
  return values;
}

std::vector<double> Sum(const Tensor& a, const Tensor& b) {
  std::vector<double> values = ToVector<double>(a), more = ToVector<double>(b);
  for (size_t i = 0; i < values.size(); ++i) values[i] += more[i];
  return values;
}

// Both may be off. All values here are below 100, and no variance is below 0.1, which divides.
void ExpectNear(const std::vector<double>& got, const Tensor& whole, const char* what) {
  constexpr int64_t kTerms = 4 * kSide * kSide + 9 * kIn;
  const double tolerance = 2 * testing::Tolerance(DType::kF64, kTerms, 100 / 0.1);
  const std::vector<double> want = ToVector<double>(whole);
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_LT(std::abs(want[i]), 100) << what;
    ASSERT_NEAR(got[i], want[i], tolerance) << what << " element " << i;
  }
}

TEST(SyncBatchNorm, OfAConvolutionIsThatOfAllImages) {
  const std::vector<Results> parts = TrainReplicas();
  const Results whole = Train(0, 4, {});
  ASSERT_GT(ToVector<double>(whole.buffers[1])[0], 0.9 + 0.1 * 0.1);  // 0.9 + 0.1 variance
  ExpectNear(Joined(parts[0].y, parts[1].y), whole.y, "y");
  ExpectNear(Joined(parts[0].dx, parts[1].dx), whole.dx, "dx");
  for (size_t i = 0; i < whole.gradients.size(); ++i)
    ExpectNear(Sum(parts[0].gradients[i], parts[1].gradients[i]), whole.gradients[i], "parameter");
  ASSERT_EQ(whole.buffers.size(), 3u);
  for (size_t i = 0; i < whole.buffers.size(); ++i) {
    EXPECT_EQ(ToVector<double>(parts[0].buffers[i]), ToVector<double>(parts[1].buffers[i]));
    ExpectNear(ToVector<double>(parts[0].buffers[i]), whole.buffers[i], "buffer");
  }
}

// Three norms, in each direction; none in an evaluation.
TEST(SyncBatchNorm, AChainOfConvolutionsGathersForEachNorm) {
  InvertedResidual block({.in = kOut, .out = kOut, .stride = 1, .expansion = 2});
  block.Initialize(1);
  int calls = 0;
  const GatherReplicas gather = [&](const Tensor& own) {
    ++calls;
    return std::vector{own, own};
  };
  const Variable x(Normal({2, kSide, kSide, kOut}, 2).To(DType::kF32), true);
  const Variable y = block.Forward(x, {.gather_replicas = gather});
  EXPECT_EQ(calls, 3);
  Backward({y}, {Full(y.shape(), 1)});
  EXPECT_EQ(calls, 6);
  block.EndMiniBatch();
  block.Forward(x, {.training = false, .gather_replicas = gather});
  EXPECT_EQ(calls, 6);
}

}  // namespace
}  // namespace torus
