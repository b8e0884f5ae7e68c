// Graphs choose among proposals as their thread's plans say. Emulated, an evaluation of the graphs
// stands in for cuDNN, and a test's proposals for cuDNN's.
#include <gtest/gtest.h>

#include <algorithm>

#include "ops/convolution/convolution.h"
#include "ops/cuda/proposal_stand_in.h"
#include "runtime/on_device.h"
#include "tests/ops/cuda/cudnn/evaluate_graph.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/twins.h"

namespace torus::cuda {
namespace {

using torus::testing::CountingStandIn;
using torus::testing::kFirstGpu;

class GpuGraphPlans : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!torus::testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
    torus::testing::OddShapes shapes(3);
    x_ = shapes.Normal({2, 6, 5, 8}).To(DType::kF32).To(kFirstGpu);
    weight_ = shapes.Normal({8, 3, 3, 8}).To(DType::kF32).To(kFirstGpu);
  }
  std::vector<float> Convolve(Plans* plans) {
    const WithPlans with(plans);
    return ToVector<float>(
        ops::Conv2d(Variable(x_), Variable(weight_), Variable(), {}).data().To(Device{}));
  }

  Tensor x_, weight_;
};

TEST_F(GpuGraphPlans, AutotuningGivesTheSameValuesAndKeepsTheChoice) {
  const CountingStandIn stand_in;
  const std::vector<float> plain = Convolve(nullptr);
  Plans tuned(true);
  const std::vector<float> first = Convolve(&tuned);
  ASSERT_EQ(tuned.choices().size(), 1u);
  EXPECT_EQ(tuned.choices().begin()->first.find("convolution of f32 (2, 8, 6, 5)"), 0u)
      << tuned.choices().begin()->first;
  for (size_t i = 0; i < plain.size(); ++i) ASSERT_NEAR(first[i], plain[i], 1e-4) << i;
  Plans known(false, tuned.choices());
  EXPECT_EQ(Convolve(&known), first);
  EXPECT_EQ(known.counts().known, 1);
  EXPECT_EQ(known.counts().timed, 0);
}

TEST_F(GpuGraphPlans, TakeTheQuickestAndDoNotShareIt) {
  if (!kEmulatedGpu) GTEST_SKIP() << "needs --config=emulated_gpu";
  const CountingStandIn graphs;
  int64_t quickest = 1, timed = 0, taken = -1;
  const ProposalStandIn proposals({.count = 3,
                                   .seconds =
                                       [&](const std::string&, int64_t i) {
                                         ++timed;
                                         return i == quickest ? 1.0 : 2.0;
                                       },
                                   .taken = [&](const std::string&, int64_t i) { taken = i; }});
  const auto taken_by = [&](Plans& plans) {
    Convolve(&plans);
    return taken;
  };
  Plans first(true), second(true);
  EXPECT_EQ(taken_by(first), 1);
  quickest = 2;
  EXPECT_EQ(taken_by(second), 2);
  EXPECT_EQ(taken_by(first), 1);
  EXPECT_EQ(timed, 6);
}

TEST_F(GpuGraphPlans, WhatCudnnDoesNotTakeIsNamed) {
  if (!kEmulatedGpu) GTEST_SKIP() << "needs --config=emulated_gpu";
  Plans plans(true);
  Convolve(&plans);
  Convolve(&plans);
  EXPECT_TRUE(plans.choices().empty());
  EXPECT_EQ(plans.counts().fallbacks,
            (std::map<std::string, int64_t>{
                {"convolution of f32 (2, 8, 6, 5) and f32 (8, 8, 3, 3)", 2}}));
}

}  // namespace
}  // namespace torus::cuda
