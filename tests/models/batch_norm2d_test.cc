#include "models/nn/batch_norm2d.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "runtime/rng.h"
#include "tests/testing/error_of.h"
#include "tests/testing/tolerance.h"

namespace torus::nn {
namespace {

constexpr int64_t kChannels = 5;

Tensor Images(int64_t n, uint64_t seed) {
  Tensor x = Empty({n, 3, 2, kChannels});
  FillNormal(x, 2, 3, RandomStream({.seed = seed}));
  return x;
}

StepContext Context(int micro_batch, bool training = true) {
  return {.micro_batch = micro_batch, .training = training};
}

std::vector<float> Buffer(const BatchNorm2d& norm, size_t i) {
  return ToVector<float>(norm.Buffers()[i].value);
}

int64_t Batches(const BatchNorm2d& norm) { return ToVector<int64_t>(norm.Buffers()[2].value)[0]; }

std::unique_ptr<BatchNorm2d> Norm(std::optional<double> momentum = 0.1) {
  auto norm = std::make_unique<BatchNorm2d>(
      BatchNorm2dOptions{.channels = kChannels, .momentum = momentum});
  norm->Initialize(0);
  return norm;
}

void ExpectNear(const std::vector<float>& got, const std::vector<float>& want, int64_t terms,
                double magnitude) {
  const double tolerance = testing::Tolerance(DType::kF32, terms, magnitude);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance) << i;
}

TEST(BatchNorm2d, OneMicroBatchGivesPyTorchsUpdate) {
  const auto norm = Norm();
  const Tensor x = Images(4, 1);
  norm->Forward(Variable(x), Context(0));
  EXPECT_EQ(Buffer(*norm, 0), std::vector<float>(kChannels, 0));  // not before the mini-batch ends
  norm->EndMiniBatch();
  std::vector<double> sum(kChannels), squares(kChannels);
  const std::vector<float> values = ToVector<float>(x);
  const double n = static_cast<double>(values.size()) / kChannels;
  for (size_t i = 0; i < values.size(); ++i) sum[i % kChannels] += values[i];
  for (size_t i = 0; i < values.size(); ++i) {
    const double d = values[i] - sum[i % kChannels] / n;
    squares[i % kChannels] += d * d;
  }
  std::vector<float> mean, var;
  for (size_t c = 0; c < kChannels; ++c) {
    mean.push_back(static_cast<float>(0.1 * sum[c] / n));
    var.push_back(static_cast<float>(0.9 + 0.1 * squares[c] / (n - 1)));
  }
  ExpectNear(Buffer(*norm, 0), mean, 24, 1);
  ExpectNear(Buffer(*norm, 1), var, 24, 2);
  EXPECT_EQ(Batches(*norm), 1);
}

TEST(BatchNorm2d, MicroBatchesTogetherCountAsTheMiniBatch) {
  const auto parts = Norm(), whole = Norm();
  const Tensor x = Images(7, 2);
  whole->Forward(Variable(x), Context(0));
  whole->EndMiniBatch();
  // Unequal parts, in another order.
  parts->Forward(Variable(x.Narrow(0, 4, 3).Contiguous()), Context(2));
  parts->Forward(Variable(x.Narrow(0, 0, 1).Contiguous()), Context(0));
  parts->Forward(Variable(x.Narrow(0, 1, 3).Contiguous()), Context(1));
  parts->EndMiniBatch();
  ExpectNear(Buffer(*parts, 0), Buffer(*whole, 0), 42, 1);
  ExpectNear(Buffer(*parts, 1), Buffer(*whole, 1), 42, 2);
  EXPECT_EQ(Batches(*parts), 1);
}

TEST(BatchNorm2d, OrderOfMicroBatchesChangesNoBit) {
  const auto ascending = Norm(), descending = Norm();
  for (int i = 0; i < 3; ++i) ascending->Forward(Variable(Images(4, 10 + i)), Context(i));
  for (int i = 2; i >= 0; --i) descending->Forward(Variable(Images(4, 10 + i)), Context(i));
  ascending->EndMiniBatch();
  descending->EndMiniBatch();
  EXPECT_EQ(Buffer(*ascending, 0), Buffer(*descending, 0));
  EXPECT_EQ(Buffer(*ascending, 1), Buffer(*descending, 1));
}

TEST(BatchNorm2d, AForwardDoneAgainCountsOnce) {
  const auto once = Norm(), twice = Norm();
  for (const BatchNorm2d* norm : {once.get(), twice.get(), twice.get()})
    const_cast<BatchNorm2d*>(norm)->Forward(Variable(Images(4, 3)), Context(0));
  once->EndMiniBatch();
  twice->EndMiniBatch();
  EXPECT_EQ(Buffer(*once, 1), Buffer(*twice, 1));
}

TEST(BatchNorm2d, AMiniBatchWhoseStepWasNotTakenLeavesNoTrace) {
  const auto all = Norm(), good = Norm();
  all->Forward(Variable(Images(4, 3)), Context(0));
  all->Forward(Variable(Full(Images(4, 3).shape(), NAN)), Context(1));
  all->EndMiniBatch(false);
  EXPECT_EQ(Batches(*all), 0);
  for (BatchNorm2d* norm : {all.get(), good.get()}) {
    norm->Forward(Variable(Images(4, 5)), Context(0));
    norm->EndMiniBatch();
  }
  EXPECT_EQ(Buffer(*all, 0), Buffer(*good, 0));
  EXPECT_EQ(Buffer(*all, 1), Buffer(*good, 1));
}

TEST(BatchNorm2d, WithoutMomentumItAveragesAllMiniBatches) {
  const auto norm = Norm(std::nullopt);
  std::vector<float> mean(kChannels, 0);
  for (int step = 0; step < 3; ++step) {
    const Tensor x = Images(4, 20 + static_cast<uint64_t>(step));
    norm->Forward(Variable(x), Context(0));
    norm->EndMiniBatch();
    const std::vector<float> values = ToVector<float>(x);
    for (size_t i = 0; i < values.size(); ++i) mean[i % kChannels] += values[i] / 24 / 3;
  }
  ExpectNear(Buffer(*norm, 0), mean, 72, 3);
  EXPECT_EQ(Batches(*norm), 3);
}

TEST(BatchNorm2d, PendingStatisticsAreNeitherReplacedNorPassedOver) {
  const auto norm = Norm();
  const Variable x(Images(4, 3));
  norm->Forward(x, {.step = 3});
  EXPECT_EQ(testing::ErrorOf([&] { norm->Forward(x, {.step = 4}); }),
            "[batch_norm] the statistics of step 3 are pending: call EndMiniBatch after each "
            "mini-batch");
  EXPECT_THROW(norm->Forward(x, Context(0, false)), BadInput);
  const Variable shape(Empty(x.shape(), x.dtype(), kMetaDevice));
  EXPECT_EQ(norm->Forward(shape, Context(0, false)).shape(), x.shape()) << "reads no statistics";
  norm->EndMiniBatch();
  EXPECT_EQ(Batches(*norm), 1) << "of step 3";
  norm->Forward(x, {.step = 4});
  norm->EndMiniBatch(false);
  norm->Forward(x, Context(0, false));
  EXPECT_EQ(Batches(*norm), 1);
}

TEST(BatchNorm2d, EvaluationUsesAndLeavesRunningStatistics) {
  const auto norm = Norm();
  const Tensor x = Images(2, 4);
  const Variable y = norm->Forward(Variable(x), Context(0, false));
  norm->EndMiniBatch();
  EXPECT_EQ(Batches(*norm), 0);
  std::vector<float> want = ToVector<float>(x);
  for (float& v : want) v = static_cast<float>(v / std::sqrt(1 + 1e-5));
  ExpectNear(ToVector<float>(y.data()), want, 1, 12);
}

}  // namespace
}  // namespace torus::nn
