#include "parallel/pipeline/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

std::vector<Block> Blocks(int count) {
  std::vector<Block> blocks(count);
  for (int i = 0; i < count; ++i) {
    blocks[i].name = fmt::format("b{}", i);
    blocks[i].cost = i + 1;
    blocks[i].forward = [](const std::vector<Variable>& x, const StepContext&) { return x; };
  }
  return blocks;
}

TEST(Cuts, ParsesWhatTheFlagSays) {
  EXPECT_EQ(ParseCuts(""), Cuts{});
  EXPECT_EQ(ParseCuts("7"), Cuts{7});
  EXPECT_EQ(ParseCuts("1,18"), (Cuts{1, 18}));
  for (const char* bad : {",", "1,", ",1", "1;2", "1 2", "a", "1,,2", "99999999999"}) {
    EXPECT_THROW(ParseCuts(bad), BadInput) << bad;
  }
}

TEST(Cuts, MustAscendWithinTheModel) {
  CheckCuts({}, 1);
  CheckCuts({1, 2, 3}, 4);
  for (const Cuts& bad : {Cuts{0}, Cuts{4}, Cuts{-1}, Cuts{2, 2}, Cuts{3, 1}}) {
    EXPECT_THROW(CheckCuts(bad, 4), BadInput);
  }
  try {
    CheckCuts({3, 1}, 4);
  } catch (const BadInput& e) {
    EXPECT_STREQ(
        e.what(),
        "[cut] cuts must ascend within 1..3, got 3,1 (a cut names the first block of a stage)");
  }
}

double MostCostly(const std::vector<double>& costs, const Cuts& cuts) {
  double most = 0;
  size_t begin = 0;
  for (size_t s = 0; s <= cuts.size(); ++s) {
    const size_t end = s < cuts.size() ? cuts[s] : costs.size();
    most = std::max(most, std::accumulate(costs.begin() + begin, costs.begin() + end, 0.0));
    begin = end;
  }
  return most;
}

// The best over all cuts, by trying each.
double BestByForce(const std::vector<double>& costs, int stages, Cuts cuts = {}) {
  if (static_cast<int>(cuts.size()) == stages - 1) return MostCostly(costs, cuts);
  double best = 1e300;
  cuts.push_back(0);
  const int first = cuts.size() > 1 ? cuts[cuts.size() - 2] + 1 : 1;
  const int left = stages - 1 - static_cast<int>(cuts.size());
  for (cuts.back() = first; cuts.back() < static_cast<int>(costs.size()) - left; ++cuts.back()) {
    best = std::min(best, BestByForce(costs, stages, cuts));
  }
  return best;
}

TEST(BalanceCuts, IsAsGoodAsTryingAll) {
  uint32_t state = 12345;
  for (int round = 0; round < 60; ++round) {
    std::vector<double> costs(1 + round % 9);
    for (double& cost : costs) cost = (state = state * 1664525 + 1013904223) >> 28;
    for (int stages = 1; stages <= static_cast<int>(costs.size()); ++stages) {
      const Cuts cuts = BalanceCuts(costs, stages);
      CheckCuts(cuts, static_cast<int>(costs.size()));
      ASSERT_EQ(static_cast<int>(cuts.size()), stages - 1);
      EXPECT_EQ(MostCostly(costs, cuts), BestByForce(costs, stages));
    }
  }
}

TEST(BalanceCuts, KnownCases) {
  const std::vector<double> rising{1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(BalanceCuts(rising, 3), (Cuts{5, 7}));  // 15, 13, 17 (Skiena's example)
  EXPECT_EQ(BalanceCuts(std::vector<double>(4, 1.0), 4), (Cuts{1, 2, 3}));
  EXPECT_EQ(BalanceCuts(std::vector<double>(4, 0.0), 2), Cuts{1});
}

TEST(BalanceCuts, RefusesBadCosts) {
  EXPECT_THROW(BalanceCuts(std::vector<double>{1, 2}, 3), BadInput);
  EXPECT_THROW(BalanceCuts(std::vector<double>{1, 2}, 0), BadInput);
  EXPECT_THROW(BalanceCuts(std::vector<double>{1, -2}, 1), BadInput);
  EXPECT_THROW(BalanceCuts(std::vector<double>{1, 0.0 / 0.0}, 1), BadInput);
}

TEST(MakeStages, SplitsAtTheCuts) {
  const std::vector<Stage> stages = MakeStages(Blocks(6), {1, 4});
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[0].num_blocks(), 1);
  EXPECT_EQ(stages[1].first_block(), 1);
  EXPECT_EQ(stages[1].cost(), 2 + 3 + 4);
  EXPECT_EQ(stages[2].num_blocks(), 2);
}

TEST(Stage, NamesTheBlockThatFails) {
  std::vector<Block> blocks = Blocks(3);
  blocks[2].forward = [](const std::vector<Variable>&,
                         const StepContext&) -> std::vector<Variable> {
    Throw<BadInput>("conv", "too small");
  };
  const std::vector<Stage> stages = MakeStages(blocks, {1});
  try {
    stages[1].Forward({}, {});
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(), "block 2 (b2): [conv] too small");
  }
  blocks[0].forward = nullptr;
  EXPECT_THROW(MakeStages(blocks, {1}), BadInput);
  EXPECT_THROW(Stage({}, 0), BadInput);
}

}  // namespace
}  // namespace torus::parallel
