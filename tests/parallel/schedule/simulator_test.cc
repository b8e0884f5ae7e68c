#include "parallel/schedule/simulator.h"

#include <gtest/gtest.h>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/gpipe.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

TEST(Simulator, BubbleOfGPipeIsTheTextbookOne) {
  for (int k = 1; k <= 6; ++k) {
    for (int m = 1; m <= 9; ++m) {
      CostModel costs{std::vector<double>(k, 1.0), std::vector<double>(k, 2.0)};
      const Simulation s = Simulate(MakeSchedule("gpipe", k, m), costs);
      EXPECT_DOUBLE_EQ(s.makespan, 3.0 * (m + k - 1));
      EXPECT_NEAR(s.bubble, (k - 1.0) / (m + k - 1.0), 1e-12);
    }
  }
}

TEST(Simulator, TheSlowestStageSetsThePace) {
  // Forward 1 then 3: rank 1 starts at 1 and is never free before 13; backward the same.
  const Simulation s = Simulate(GPipe(2, 4), {{1, 3}, {2, 6}});
  EXPECT_DOUBLE_EQ(s.ranks[1].front().begin, 1);
  EXPECT_DOUBLE_EQ(s.ranks[1].back().end, 1 + 4 * 3 + 4 * 6);
  EXPECT_DOUBLE_EQ(s.makespan, 37 + 2);
  EXPECT_DOUBLE_EQ(s.bubble, 1 - (4 * 3 + 4 * 9) / (2 * 39.0));
}

TEST(Simulator, TransfersDelayTheOtherRankAlone) {
  const Simulation s = Simulate(GPipe(2, 1), {{1, 1}, {1, 1}, 0.5, 0.25});
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
  const Simulation s = Simulate(split, {{1}, {4}, 0.25, 0});
  EXPECT_DOUBLE_EQ(s.ranks[0][1].end, 2);
  EXPECT_DOUBLE_EQ(s.makespan, 5);
}

TEST(Simulator, RefusesWhatItCannotRun) {
  EXPECT_THROW(Simulate(GPipe(2, 1), {{1, 1, 1}, {}}), BadInput);
  Schedule backward_first{
      "b", 1, 1, 1, {{{ActionKind::kBackward, 0, 0}, {ActionKind::kForward, 0, 0}}}};
  EXPECT_THROW(Simulate(backward_first), BadInput);
}

}  // namespace
}  // namespace torus::parallel
