#include "ops/cuda/cudnn/plan_cache.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace torus::cuda {
namespace {

struct Searches {
  PlanCache<int>::Pointer operator()(const PlanKey& key) {
    return cache.Get(key, [&] {
      ++count;
      return std::make_shared<const int>(static_cast<int>(key[0]));
    });
  }
  PlanCache<int> cache{3};
  int count = 0;
};

TEST(PlanCache, LooksForAPlanOnce) {
  Searches get;
  const auto first = get({7, 1});
  EXPECT_EQ(*first, 7);
  EXPECT_EQ(get({7, 1}), first);
  EXPECT_EQ(get.count, 1);
  EXPECT_NE(get({7, 2}), first);
  EXPECT_EQ(get.count, 2);
}

TEST(PlanCache, RemembersThatThereIsNone) {
  PlanCache<int> cache(3);
  int searches = 0;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(cache.Get({1},
                        [&] {
                          ++searches;
                          return nullptr;
                        }),
              nullptr);
  EXPECT_EQ(searches, 1);
}

TEST(PlanCache, HoldsABoundedNumberAndGivesUpTheOneNotUsedForLongest) {
  Searches get;
  for (int64_t key : {1, 2, 3}) get({key});
  get({1});  // 2 is now the oldest
  get({4});
  EXPECT_EQ(get.cache.size(), 3u);
  EXPECT_EQ(get.count, 4);
  for (int64_t key : {1, 3, 4}) get({key});
  EXPECT_EQ(get.count, 4);
  get({2});
  EXPECT_EQ(get.count, 5);
  EXPECT_EQ(get.cache.size(), 3u);
}

TEST(PlanCache, APlanOutlivesItsPlace) {
  Searches get;
  const auto plan = get({9});
  for (int64_t key = 0; key < 3; ++key) get({key});
  EXPECT_EQ(*plan, 9);
}

TEST(PlanCache, KeepsNothingOfASearchThatThrows) {
  PlanCache<int> cache(3);
  const auto fail = []() -> PlanCache<int>::Pointer { throw std::runtime_error("no"); };
  EXPECT_THROW(cache.Get({1}, fail), std::runtime_error);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(*cache.Get({1}, [] { return std::make_shared<const int>(5); }), 5);
}

}  // namespace
}  // namespace torus::cuda
