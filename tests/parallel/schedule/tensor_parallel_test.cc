#include "parallel/schedule/tensor_parallel.h"

#include <gtest/gtest.h>

#include "parallel/collectives/all_reduce.h"
#include "parallel/schedule/factory.h"
#include "parallel/schedule/simulator.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

TEST(TensorParallelCosts, AnAllReduceSendsWhatTheDirectOneDoes) {
  for (const int ranks : {1, 2, 4, 8}) {
    const int64_t count = 1024;  // which all of them divide
    for (int rank = 0; rank < ranks; ++rank)
      EXPECT_DOUBLE_EQ(AllReduceBytes(ranks, 4 * count),
                       static_cast<double>(
                           AllReduceBytesSent(AllReduceAlgorithm::kDirect, ranks, rank, count, 4)));
  }
}

TEST(TensorParallelCosts, AnAllReduceTakesTwoExchanges) {
  const LinkModel link{.latency = 0.5, .bandwidth = 10};
  EXPECT_DOUBLE_EQ(AllReduceSeconds(1, 100, link), 0);
  EXPECT_DOUBLE_EQ(AllReduceSeconds(2, 100, link), 2 * (0.5 + 5));
  EXPECT_DOUBLE_EQ(AllReduceSeconds(4, 100, link), 2 * (0.5 + 7.5));
}

TEST(TensorParallelCosts, ABlockSumsTwiceEachWay) {
  const TensorParallelStage first{.blocks = 3, .embedding = true, .activation_bytes = 100};
  EXPECT_EQ(ForwardSums(first), 7);
  EXPECT_EQ(BackwardSums(first), 6);
  const TensorParallelStage last{.blocks = 3, .head = true, .activation_bytes = 100};
  EXPECT_EQ(ForwardSums(last), 6);
  EXPECT_EQ(BackwardSums(last), 7);
  EXPECT_DOUBLE_EQ(TensorParallelBytes(2, first), 13 * 100);
  EXPECT_DOUBLE_EQ(TensorParallelBytes(4, last), 13 * 150);
  EXPECT_DOUBLE_EQ(TensorParallelBytes(1, last), 0);
}

// One stage, one micro-batch: forward 8 and backward 16 on one rank.
TEST(TensorParallelCosts, ComputeIsSharedOutAndSumsAreAdded) {
  const CostModel whole{.forward = {8},
                        .backward = {16},
                        .step = {4},
                        .state_bytes = {1000},
                        .activation_bytes = {500}};
  const std::vector<TensorParallelStage> stages{
      {.blocks = 1, .embedding = true, .head = true, .activation_bytes = 100}};
  const LinkModel link{.latency = 0.1, .bandwidth = 100};
  const CostModel split = WithTensorParallel(whole, 2, stages, link);
  const double sum = 2 * (0.1 + 0.5);
  EXPECT_DOUBLE_EQ(split.forward[0], 4 + 3 * sum);
  EXPECT_DOUBLE_EQ(split.backward[0], 8 + 3 * sum);
  EXPECT_DOUBLE_EQ(split.step[0], 2);
  EXPECT_DOUBLE_EQ(split.state_bytes[0], 500);
  EXPECT_DOUBLE_EQ(split.activation_bytes[0], 500);
  const Schedule schedule = MakeSchedule("gpipe", {1, 1});
  EXPECT_DOUBLE_EQ(Simulate(schedule, split).makespan, 12 + 6 * sum + 2);
}

// Two stages that take no time, a micro-batch of 100 bytes across the cut and back.
TEST(TensorParallelCosts, ACutIsCrossedInSharesThatAreGathered) {
  CostModel whole{.forward = {0, 0}, .backward = {0, 0}, .boundary_bytes = {100, 0}};
  whole.links = LinkTable({.latency = 1, .bandwidth = 10});
  const std::vector<TensorParallelStage> none(2);
  const LinkModel link{.latency = 0.1, .bandwidth = 50};
  const Schedule schedule = MakeSchedule("gpipe", {2, 1});
  const auto seconds = [&](int ranks, TensorCuts cuts) {
    return Simulate(schedule, WithTensorParallel(whole, ranks, none, link, cuts)).makespan;
  };
  EXPECT_DOUBLE_EQ(seconds(1, TensorCuts::kShared), 2 * (10 + 1));
  EXPECT_DOUBLE_EQ(seconds(2, TensorCuts::kWhole), 2 * (10 + 1));
  EXPECT_DOUBLE_EQ(seconds(2, TensorCuts::kShared), 2 * (5 + 1 + 0.1 + 1));
  EXPECT_DOUBLE_EQ(seconds(4, TensorCuts::kShared), 2 * (2.5 + 1 + 0.1 + 1.5));
}

TEST(TensorParallelCosts, OneRankCostsWhatItDid) {
  const CostModel whole{.forward = {1, 2}, .backward = {3, 4}};
  const CostModel same = WithTensorParallel(whole, 1, {{.blocks = 2}, {.blocks = 2}}, {});
  EXPECT_EQ(same.forward, whole.forward);
  EXPECT_EQ(same.backward, whole.backward);
}

TEST(TensorParallelCosts, RefusesOtherNumbers) {
  const CostModel whole{.forward = {1}, .backward = {2}};
  EXPECT_THROW(WithTensorParallel(whole, 0, {{}}, {}), BadInput);
  EXPECT_THROW(WithTensorParallel(whole, 2, {{}, {}}, {}), BadInput);
  EXPECT_THROW((void)AllReduceBytes(0, 1), BadInput);
}

}  // namespace
}  // namespace torus::parallel
