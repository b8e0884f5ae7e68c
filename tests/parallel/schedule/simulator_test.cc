#include "parallel/schedule/simulator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/gpipe.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

TEST(Simulator, BubbleOfGPipeIsTheTextbookOne) {
  for (int k = 1; k <= 6; ++k) {
    for (int m = 1; m <= 9; ++m) {
      CostModel costs{std::vector<double>(k, 1.0), std::vector<double>(k, 2.0)};
      const Simulation s = Simulate(MakeSchedule("gpipe", {k, m}), costs);
      EXPECT_DOUBLE_EQ(s.makespan, 3.0 * (m + k - 1));
      EXPECT_NEAR(s.bubble, (k - 1.0) / (m + k - 1.0), 1e-12);
    }
  }
}

TEST(Simulator, TheSlowestStageSetsThePace) {
  // Forward 1 then 3: rank 1 starts at 1 and is never free before 13; backward the same.
  const Simulation s = Simulate(GPipe({2, 4}), {{1, 3}, {2, 6}});
  EXPECT_DOUBLE_EQ(s.ranks[1].front().begin, 1);
  EXPECT_DOUBLE_EQ(s.ranks[1].back().end, 1 + 4 * 3 + 4 * 6);
  EXPECT_DOUBLE_EQ(s.makespan, 37 + 2);
  EXPECT_DOUBLE_EQ(s.bubble, 1 - (4 * 3 + 4 * 9) / (2 * 39.0));
}

TEST(Simulator, TransfersDelayTheOtherRankAlone) {
  const Simulation s =
      Simulate(GPipe({2, 1}),
               {.forward = {1, 1}, .backward = {1, 1}, .links = LinkTable({.latency = 0.25})});
  EXPECT_DOUBLE_EQ(s.ranks[1][0].begin, 1.25);
  EXPECT_DOUBLE_EQ(s.ranks[0][1].begin, 3.5);
  EXPECT_DOUBLE_EQ(s.makespan, 4.5);
}

TEST(Simulator, HalvesShareTheCostOfABackward) {
  Schedule split{"split",
                 1,
                 1,
                 1,
                 {{{ActionKind::kForward, 0, 0},
                   {ActionKind::kBackwardInput, 0, 0},
                   {ActionKind::kBackwardWeight, 0, 0}}}};
  const Simulation s = Simulate(split, {{1}, {4}, 0.25});
  EXPECT_DOUBLE_EQ(s.ranks[0][1].end, 2);
  EXPECT_DOUBLE_EQ(s.makespan, 5);
}

TEST(Simulator, MessagesFollowEachOtherOnALink) {
  // Two messages of 4 bytes at 2 bytes a second: the first leaves at 1 and has passed at 3, the
  // second is made at 2, waits, and has passed at 5; each arrives half a second later.
  CostModel costs{.boundary_bytes = {4, 0}, .links = LinkTable({.latency = 0.5, .bandwidth = 2})};
  const Simulation s = Simulate(GPipe({2, 2}), costs);
  EXPECT_DOUBLE_EQ(s.ranks[1][0].begin, 3.5);
  EXPECT_DOUBLE_EQ(s.ranks[1][1].begin, 5.5);
  // The way back is a link of its own; gradients are made at 7.5 and 8.5.
  EXPECT_DOUBLE_EQ(s.ranks[0][2].begin, 7.5 + 2 + 0.5);
  EXPECT_DOUBLE_EQ(s.ranks[0][3].begin, 7.5 + 4 + 0.5);
  EXPECT_DOUBLE_EQ(s.sent_bytes.at({0, 1}), 8);
  EXPECT_DOUBLE_EQ(s.sent_bytes.at({1, 0}), 8);
}

TEST(Simulator, AWindowBoundsTheThroughputOfALongLink) {
  EXPECT_DOUBLE_EQ((LinkModel{.latency = 0.01, .bandwidth = 1e9, .window = 1e6}.Throughput()), 5e7);
  EXPECT_DOUBLE_EQ((LinkModel{.latency = 0.0001, .bandwidth = 1e9, .window = 1e6}.Throughput()),
                   1e9);
  EXPECT_DOUBLE_EQ((LinkModel{.bandwidth = 1e9, .window = 1}.Throughput()), 1e9);
}

TEST(Simulator, ALinkOfItsOwnForOneDirection) {
  CostModel costs;
  costs.links.Set(0, 1, {.latency = 2});
  const Simulation s = Simulate(GPipe({2, 1}), costs);
  EXPECT_DOUBLE_EQ(s.ranks[1][0].begin, 3);
  EXPECT_DOUBLE_EQ(s.ranks[0][1].begin, 5);
}

TEST(Simulator, JitterDelaysAndKeepsTheOrder) {
  CostModel costs{.links = LinkTable({.jitter = 10})};
  const Simulation s = Simulate(GPipe({2, 8}), costs), again = Simulate(GPipe({2, 8}), costs);
  for (int m = 0; m < 8; ++m) {
    EXPECT_GE(s.ranks[1][m].begin, m + 1);
    EXPECT_EQ(s.ranks[1][m].begin, again.ranks[1][m].begin);
  }
  EXPECT_GT(s.makespan, Simulate(GPipe({2, 8})).makespan);
  EXPECT_LT(s.makespan, Simulate(GPipe({2, 8})).makespan + 20);
}

// The codec works on the ranks: encoding delays what the sender does next, decoding the receiver.
TEST(Simulator, CodecsTakeTheRanksTime) {
  CostModel costs{.encode = {0.5, 0}, .decode = {0.25, 0}};
  const Simulation s = Simulate(GPipe({2, 2}), costs);
  EXPECT_DOUBLE_EQ(s.ranks[0][1].begin, 1.5);
  EXPECT_DOUBLE_EQ(s.ranks[1][0].begin, 1.75);
  EXPECT_DOUBLE_EQ(s.ranks[1][1].begin, 3.25);
}

TEST(Simulator, ReducesAndStepsCountWhereTheyTakeTime) {
  CostModel costs{.reduce = {2, 0}, .step = {1, 1}};
  const Simulation s = Simulate(MakeSchedule("gpipe", {2, 1}), costs);
  EXPECT_DOUBLE_EQ(s.makespan, 4 + 3);
  EXPECT_DOUBLE_EQ(s.busy[0], 5);
  EXPECT_DOUBLE_EQ(s.busy[1], 3);
}

// Rank 1 has its gradients at 3, and knows at 6 that rank 0 has its own.
TEST(Simulator, StepsWaitForAllGradients) {
  const CostModel costs{.reduce = {2, 1}, .step = {1, 4}};
  const Simulation s = Simulate(MakeSchedule("gpipe", {2, 1}), costs);
  EXPECT_DOUBLE_EQ(s.ranks[1].back().begin, 6);
  EXPECT_DOUBLE_EQ(s.makespan, 10);
}

TEST(Simulator, MemoryIsThatOfWhatIsInFlight) {
  CostModel costs{.state_bytes = {100, 100, 100}, .activation_bytes = {1, 2, 3}};
  EXPECT_EQ(Simulate(MakeSchedule("gpipe", {3, 5}), costs).peak_bytes,
            (std::vector<double>{105, 110, 115}));
  EXPECT_EQ(Simulate(MakeSchedule("1f1b", {3, 5}), costs).peak_bytes,
            (std::vector<double>{103, 104, 103}));
}

TEST(Simulator, RefusesWhatItCannotRun) {
  EXPECT_THROW(Simulate(GPipe({2, 1}), {{1, 1, 1}, {}}), BadInput);
  EXPECT_THROW(Simulate(GPipe({1, 1}), {.forward = {-1}}), BadInput);
  EXPECT_THROW(Simulate(GPipe({1, 1}), {.step = {NAN}}), BadInput);
  Schedule backward_first{
      "b", 1, 1, 1, {{{ActionKind::kBackward, 0, 0}, {ActionKind::kForward, 0, 0}}}};
  EXPECT_THROW(Simulate(backward_first), BadInput);
}

}  // namespace
}  // namespace torus::parallel
