// The steps that cuda_bench times. Skips where there is no GPU: run it with --config=emulated_gpu.
#include "tools/bench/train_step.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "runtime/stream.h"

namespace torus::bench {
namespace {

std::vector<double> Losses(bool graph) {
  TrainStepOptions options{.model = "mobilenet_v2", .size = 32, .batch = 2};
  options.device = {DeviceKind::kCuda, 0};
  options.graph = graph;
  TrainStep step(options);
  std::vector<double> losses;
  for (int i = 0; i < 4; ++i) losses.push_back(step.Run());
  return losses;
}

TEST(TrainStep, IsTheSameAsAGraph) {
  if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  const std::vector<double> ever = Losses(false);
  EXPECT_NE(ever[2], ever[3]);
  EXPECT_EQ(Losses(true), ever);
}

TEST(TrainStep, IsNoGraphOnACpu) {
  EXPECT_THROW(TrainStep({.size = 32, .batch = 2, .graph = true}), BadInput);
}

}  // namespace
}  // namespace torus::bench
