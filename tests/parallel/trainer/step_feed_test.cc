// The batches of a rank's steps, fetched ahead and copied on a GPU. The parts that need one skip
// where there is none: run them with --config=emulated_gpu.
#include "parallel/trainer/step_feed.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/stream.h"

namespace torus::parallel {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};

// Notes which steps were asked for; the values of a step's tensors are its number.
struct Source {
  StepFeed::Fetch fetch() {
    return [this](int64_t step) {
      asked += std::to_string(step);
      if (step == bad) Throw<BadInput>("source", "step {} is bad", step);
      MiniBatch batch{.step = step, .global_samples = 2};
      for (int m = 0; m < 2; ++m)
        batch.micro_batches.push_back({.inputs = {Full({50}, static_cast<double>(step)), Tensor()},
                                       .targets = {Full({3}, static_cast<double>(step + m))},
                                       .samples = {m}});
      if (prepares)
        batch.micro_batches[0].prepare = [](std::vector<Tensor>& inputs) {
          inputs[0] = inputs[0].Clone();
          ScaleInPlace(inputs[0], 10);
        };
      return batch;
    };
  }
  std::string asked;
  int64_t bad = -1;
  bool prepares = false;
};

void ExpectBatch(const MiniBatch& batch, int64_t step, Device device) {
  EXPECT_EQ(batch.step, step);
  for (int m = 0; m < 2; ++m) {
    const MicroBatch& part = batch.micro_batches[m];
    EXPECT_EQ(part.inputs[0].device(), device);
    EXPECT_FALSE(part.inputs[1].defined());
    EXPECT_EQ(part.inputs[0].Select(0, 49).Item(), static_cast<double>(step));
    EXPECT_EQ(part.targets[0].Select(0, 2).Item(), static_cast<double>(step + m));
  }
}

TEST(StepFeed, OnACpuFetchesWhatIsTaken) {
  Source source;
  StepFeed feed({});
  feed.Open(source.fetch(), 3);
  for (int64_t step = 0; step < 3; ++step) {
    ExpectBatch(feed.Take(step), step, {});
    feed.FetchAhead(step + 1);
    feed.Release();
  }
  EXPECT_EQ(source.asked, "012");
}

TEST(StepFeed, PreparesOnce) {
  Source source{.prepares = true};
  StepFeed feed({});
  feed.Open(source.fetch(), 1);
  const MiniBatch batch = feed.Take(0);
  EXPECT_FALSE(batch.micro_batches[0].prepare);
}

class OnAGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, no --config=emulated_gpu: NOT tested";
  }
};

// The one before is read by kernels that run behind the fetch.
TEST_F(OnAGpu, TheNextStepIsFetchedBesideTheOneBefore) {
  Source source;
  StepFeed feed(kGpu);
  feed.Open(source.fetch(), 4);
  for (int64_t step = 0; step < 4; ++step) {
    const MiniBatch batch = feed.Take(step);
    Tensor sum = batch.micro_batches[0].inputs[0].Clone();
    feed.FetchAhead(step + 1);
    feed.FetchAhead(step + 1);
    EXPECT_EQ(source.asked, std::string("0123").substr(0, static_cast<size_t>(step) + 2));
    AddInPlace(sum, batch.micro_batches[1].inputs[0]);
    ExpectBatch(batch, step, kGpu);
    feed.Release();
    EXPECT_EQ(sum.Select(0, 0).Item(), static_cast<double>(2 * step));
  }
}

TEST_F(OnAGpu, WhatFailsAheadIsThrownWhereItIsTaken) {
  Source source{.bad = 1};
  StepFeed feed(kGpu);
  feed.Open(source.fetch(), 3);
  ExpectBatch(feed.Take(0), 0, kGpu);
  feed.FetchAhead(1);
  feed.Release();
  EXPECT_THROW(feed.Take(1), BadInput);
  EXPECT_EQ(source.asked, "01");
}

TEST_F(OnAGpu, WhatWasFetchedAheadIsForgottenByTheNextOpen) {
  Source source;
  StepFeed feed(kGpu);
  feed.Open(source.fetch(), 9);
  static_cast<void>(feed.Take(4));
  feed.FetchAhead(5);
  feed.Release();
  feed.Open(source.fetch(), 9);
  for (int64_t step = 5; step < 9; ++step) {
    ExpectBatch(feed.Take(step), step, kGpu);
    feed.FetchAhead(step + 1);
    feed.Release();
  }
  EXPECT_EQ(source.asked, "455678");
}

TEST_F(OnAGpu, InputsArePreparedThere) {
  Source source{.prepares = true};
  StepFeed feed(kGpu);
  feed.Open(source.fetch(), 8);
  const MiniBatch batch = feed.Take(7);
  EXPECT_EQ(batch.micro_batches[0].inputs[0].device(), kGpu);
  EXPECT_EQ(batch.micro_batches[0].inputs[0].Select(0, 9).Item(), 70);
  EXPECT_EQ(batch.micro_batches[1].inputs[0].Select(0, 9).Item(), 7);
}

}  // namespace
}  // namespace torus::parallel
