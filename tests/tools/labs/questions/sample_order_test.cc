#include "tools/labs/questions/sample_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace torus::labs {
namespace {

OrderOptions Options(bool sets_epoch) {
  return {.samples = 64, .batch = 4, .ranks = 4, .seed = 7, .sets_epoch = sets_epoch};
}

TEST(SampleOrder, RanksShareEachEpochOutWithoutOverlap) {
  for (const bool sets_epoch : {true, false})
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::set<int64_t> all;
      for (int64_t rank = 0; rank < 4; ++rank) {
        const std::vector<int64_t> own = SamplesOf(Options(sets_epoch), epoch, rank);
        EXPECT_EQ(own.size(), 16u);
        all.insert(own.begin(), own.end());
      }
      EXPECT_EQ(all.size(), 64u);
    }
}

TEST(SampleOrder, WithoutSetEpochEachEpochIsTheFirst) {
  for (int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(SamplesOf(Options(false), 5, rank), SamplesOf(Options(true), 0, rank));
    EXPECT_NE(SamplesOf(Options(true), 5, rank), SamplesOf(Options(true), 0, rank));
  }
}

TEST(SampleOrder, WithoutSetEpochARankMeetsAnNthForever) {
  EXPECT_EQ(DistinctSamples(Options(false), 1, 2), 16);
  EXPECT_EQ(DistinctSamples(Options(false), 9, 2), 16);
  EXPECT_GT(DistinctSamples(Options(true), 9, 2), 32);
}

// The mini-batches that the ranks make together are the sampler's own.
TEST(SampleOrder, DealsOutTheSamplersBatches) {
  const OrderOptions options = Options(true);
  const std::vector<int64_t> order = data::ShuffledOrder(options.samples, options.seed, 2);
  std::vector<int64_t> batch(order.begin(), order.begin() + 16), dealt;
  for (int64_t rank = 0; rank < 4; ++rank) {
    const std::vector<int64_t> own = SamplesOf(options, 2, rank);
    dealt.insert(dealt.end(), own.begin(), own.begin() + 4);
  }
  std::ranges::sort(batch);
  std::ranges::sort(dealt);
  EXPECT_EQ(dealt, batch);
}

}  // namespace
}  // namespace torus::labs
