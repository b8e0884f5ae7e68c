#include "parallel/data_parallel/shard_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "parallel/optim/gradient_norm.h"

namespace torus::parallel {
namespace {

const std::vector<ShardedParameter> kModel{{"embedding", 40 * kNormBlock + 5, 0},
                                           {"bias", 7, 0},
                                           {"scale", 1, 0},
                                           {"weight", 10 * kNormBlock, 1},
                                           {"last", 3 * kNormBlock + 1, 1}};

// Every element has one holder.
void ExpectCovers(const ShardPlan& plan, int replicas) {
  for (const auto& [name, elements, stage] : kModel) {
    std::vector<ElementRange> ranges = plan.at(name);
    ASSERT_EQ(ranges.size(), static_cast<size_t>(replicas));
    std::erase_if(ranges, [](const ElementRange& range) { return range.size() == 0; });
    std::ranges::sort(ranges, {}, &ElementRange::begin);
    int64_t at = 0;
    for (const ElementRange& range : ranges) {
      EXPECT_EQ(range.begin, at) << name;
      at = range.end;
    }
    EXPECT_EQ(at, elements) << name;
  }
}

int64_t Held(const ShardPlan& plan, int replica) {
  int64_t held = 0;
  for (const auto& [name, ranges] : plan) held += ranges[replica].size();
  return held;
}

TEST(ShardPlan, EveryElementHasOneHolder) {
  for (const int replicas : {1, 2, 3, 4, 8})
    for (const ShardRule rule : {ShardRule::kFirst, ShardRule::kParameters, ShardRule::kBlocks})
      ExpectCovers(MakeShardPlan(rule, kModel, replicas), replicas);
}

TEST(ShardPlan, RunsOfBlocksAreEvenAndWhole) {
  for (const int replicas : {2, 3, 4, 8}) {
    const ShardPlan plan = MakeShardPlan(ShardRule::kBlocks, kModel, replicas);
    for (const auto& [name, ranges] : plan)
      for (const ElementRange& range : ranges)
        EXPECT_EQ(range.begin % kNormBlock == 0 || range.size() == 0, true) << name;
    std::vector<int64_t> held;
    for (int r = 0; r < replicas; ++r) held.push_back(Held(plan, r));
    // All but the last block of each parameter are whole; blocks are dealt around.
    const auto [least, most] = std::ranges::minmax(held);
    EXPECT_LE(most - least, static_cast<int64_t>(kModel.size() + 1) * kNormBlock);
  }
}

TEST(ShardPlan, WholeParametersGoToWhoHoldsLeastOfTheStage) {
  const ShardPlan plan = MakeShardPlan(ShardRule::kParameters, kModel, 2);
  EXPECT_EQ(plan.at("embedding")[0].size(), 40 * kNormBlock + 5);
  EXPECT_EQ(plan.at("bias")[1].size(), 7);
  EXPECT_EQ(plan.at("scale")[1].size(), 1);
  EXPECT_EQ(plan.at("weight")[0].size(), 10 * kNormBlock);
  EXPECT_EQ(plan.at("last")[1].size(), 3 * kNormBlock + 1);
}

}  // namespace
}  // namespace torus::parallel
