#include "parallel/codec/order_statistics.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "tests/parallel/codec/exact_sort.h"

namespace torus::parallel {
namespace {

std::vector<int64_t> SomeRanks(size_t count, uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<int64_t> ranks{0, static_cast<int64_t>(count) - 1};
  for (int i = 0; i < 30; ++i) ranks.push_back(static_cast<int64_t>(rng() % count));
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

void ExpectOrder(const std::vector<float>& values, const std::vector<uint32_t>& order) {
  const std::vector<int64_t> ranks = SomeRanks(values.size(), 2);
  std::vector<uint32_t> found(ranks.size());
  ASSERT_TRUE(OrderStatistics(values, ranks, found));
  for (size_t i = 0; i < ranks.size(); ++i) ASSERT_EQ(found[i], order[ranks[i]]) << ranks[i];
}

TEST(OrderStatistics, AgreesWithAStableSortOnEveryDistribution) {
  for (const std::string& name : Distributions())
    for (size_t count : {1u, 2u, 3u, 17u, 1000u, 20011u}) {
      SCOPED_TRACE(fmt::format("{} of {}", count, name));
      const std::vector<float> values = Draw(name, count, 1);
      ExpectOrder(values, StableOrder(values));
    }
}

// Several parts, each of which counts and gathers its own share.
TEST(OrderStatistics, DoesNotDependOnTheTeam) {
  const int before = TeamSize();
  for (const std::string name : {"normal", "relu", "few_values", "signed_zeros", "mixed_scales"}) {
    const std::vector<float> values = Draw(name, 100003, 3);
    const std::vector<uint32_t> order = StableOrder(values);
    for (int team : {1, 2, 3}) {
      SCOPED_TRACE(fmt::format("{} threads, {}", team, name));
      SetTeamSize(team);
      ExpectOrder(values, order);
    }
  }
  SetTeamSize(before);
}

TEST(OrderStatistics, EveryRankOfASmallInput) {
  const std::vector<float> values{3, -0.0f, 0, -1, 0, -0.0f, 3, -1e-45f, 1e-45f, -2};
  std::vector<int64_t> ranks(values.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<uint32_t> found(values.size());
  ASSERT_TRUE(OrderStatistics(values, ranks, found));
  EXPECT_EQ(found, (std::vector<uint32_t>{9, 3, 7, 1, 2, 4, 5, 8, 0, 6}));
}

TEST(OrderStatistics, SaysThatAValueIsNotFinite) {
  for (float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                    std::numeric_limits<float>::quiet_NaN(), -std::nanf("")}) {
    std::vector<float> values(100, 1.0f);
    values[41] = values[77] = bad;
    const std::vector<int64_t> ranks{0};
    std::vector<uint32_t> found(1, 7);
    EXPECT_FALSE(OrderStatistics(values, ranks, found)) << bad;
    EXPECT_EQ(found[0], 7u);
  }
}

}  // namespace
}  // namespace torus::parallel
