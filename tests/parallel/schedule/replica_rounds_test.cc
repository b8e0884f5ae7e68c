#include "parallel/schedule/replica_rounds.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

// One rank: a step of 4 micro-batches takes 4 (1 + 2) s and 1 s of the optimizer.
Pipeline OneRank() {
  Pipeline pipeline{.micro_batches = 4, .ranks = 1};
  pipeline.costs = {.forward = {1}, .backward = {2}, .step = {1}};
  return pipeline;
}

TEST(ReplicaRounds, CountOneSynchronizationEveryHSteps) {
  ReplicaRounds rounds{.replicas = 4, .of_weights = true, .bytes = {8}};
  rounds.link = {.latency = 0.5, .bandwidth = 2};
  // Two exchanges of 3/4 of 8 bytes at 2 bytes a second.
  EXPECT_DOUBLE_EQ(ExchangeSeconds(rounds, 8), 2 * (0.5 + 3));
  EXPECT_DOUBLE_EQ(ExchangeBytes(rounds, 8), 12);
  for (const int64_t steps : {1, 2, 8, 500}) {
    rounds.steps = steps;
    for (const bool of_weights : {false, true}) {
      rounds.of_weights = of_weights;
      const auto h = static_cast<double>(steps);
      for (const ScheduleFigures& figures : CompareSchedules(OneRank(), rounds)) {
        if (figures.chunks > 1) continue;
        EXPECT_NEAR(figures.seconds, 13 + 7 / h, 1e-12) << figures.name;
        EXPECT_NEAR(figures.sent_bytes, 12 / h, 1e-12) << figures.name;
      }
    }
  }
}

TEST(ReplicaRounds, OfGossipSendWholeWeightsToNeighbours) {
  const ReplicaRounds rounds{.replicas = 8,
                             .neighbours = 2,
                             .of_weights = true,
                             .bytes = {8},
                             .link = {.latency = 0.5, .bandwidth = 2}};
  EXPECT_DOUBLE_EQ(ExchangeSeconds(rounds, 8), 0.5 + 8);
  EXPECT_DOUBLE_EQ(ExchangeBytes(rounds, 8), 16);
  EXPECT_DOUBLE_EQ(CompareSchedules(OneRank(), rounds)[0].seconds, 13 + 8.5);
}

TEST(ReplicaRounds, RefuseOtherNumbers) {
  EXPECT_THROW(CompareSchedules(OneRank(), {.replicas = 1, .bytes = {8}}), BadInput);
  EXPECT_THROW(CompareSchedules(OneRank(), {.steps = 0, .bytes = {8}}), BadInput);
  EXPECT_THROW(CompareSchedules(OneRank(), {.bytes = {8, 8}}), BadInput);
}

}  // namespace
}  // namespace torus::parallel
