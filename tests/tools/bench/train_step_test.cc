// The steps that cuda_bench times. Skips where there is no GPU: run it with --config=emulated_gpu.
#include "tools/bench/train_step.h"

#include <gtest/gtest.h>

#include "parallel/trainer/train_hooks.h"
#include "runtime/error.h"
#include "runtime/stream.h"

namespace torus::bench {
namespace {

constexpr int kSteps = 4;

TrainStepOptions OnGpu(bool graph) {
  return {
      .model = "mobilenet_v2", .size = 32, .batch = 4, .device = DeviceKind::kCuda, .graph = graph};
}

std::vector<double> Losses(TrainStep& step) {
  std::vector<double> losses{step.Run()};
  step.Run(kSteps - 1, [&](const parallel::StepReport& report) { losses.push_back(report.loss); });
  return losses;
}

TEST(TrainStep, IsTheSameAsAGraph) {
  if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  TrainStep ever(OnGpu(false)), launched(OnGpu(true));
  const std::vector<double> losses = Losses(ever);
  ASSERT_EQ(losses.size(), kSteps);
  EXPECT_NE(losses[2], losses[3]);
  EXPECT_EQ(Losses(launched), losses);
  EXPECT_EQ(ever.totals().graph_steps + ever.totals().graph_updates, 0);
}

// The whole of it, from the third step on.
TEST(TrainStep, IsLaunchedWithItsUpdate) {
  if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  TrainStep step(OnGpu(true));
  Losses(step);
  EXPECT_EQ(step.totals().graph_steps, kSteps - 1);
  EXPECT_EQ(step.totals().graph_checks, kSteps - 2);
  EXPECT_EQ(step.totals().graph_updates, kSteps - 2);
}

TEST(TrainStep, IsNoGraphOnACpu) {
  EXPECT_THROW(TrainStep({.size = 32, .batch = 2, .graph = true}), BadInput);
}

}  // namespace
}  // namespace torus::bench
