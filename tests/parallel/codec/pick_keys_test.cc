#include "parallel/codec/pick_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace torus::parallel {
namespace {

void ExpectAsSorted(std::vector<uint64_t> keys, const std::vector<int64_t>& ranks) {
  std::vector<uint64_t> picked(ranks.size());
  PickKeys(keys, ranks, picked);
  std::ranges::sort(keys);
  for (size_t i = 0; i < ranks.size(); ++i) ASSERT_EQ(picked[i], keys[ranks[i]]) << ranks[i];
}

std::vector<int64_t> SomeRanks(size_t count) {
  const auto n = static_cast<int64_t>(count);
  return {0, n / 3, n / 3, n / 2 - 1, n / 2, n - 1};
}

TEST(PickKeys, OfAnyNumber) {
  std::mt19937_64 random(1);
  for (const size_t count : {2, 6, 127, 128, 129, 130, 5000, 100000}) {
    std::vector<uint64_t> keys(count);
    for (uint64_t& key : keys) key = random();
    SCOPED_TRACE(count);
    ASSERT_NO_FATAL_FAILURE(ExpectAsSorted(keys, SomeRanks(count)));
  }
}

// Most keys share a bin at every step: groups are half as far from zero as the one before, or all
// follow each other but for the greatest possible key.
TEST(PickKeys, ThatAreUnevenlySpread) {
  std::vector<uint64_t> keys;
  for (int bit = 63; bit >= 10; --bit)
    for (uint64_t i = 0; i < 40; ++i) keys.push_back((uint64_t{1} << bit) + i);
  ASSERT_NO_FATAL_FAILURE(ExpectAsSorted(keys, SomeRanks(keys.size())));
  keys.clear();
  for (uint64_t i = 0; i < 50000; ++i) keys.push_back(i);
  keys.push_back(~uint64_t{0});
  std::ranges::shuffle(keys, std::mt19937(2));
  ASSERT_NO_FATAL_FAILURE(ExpectAsSorted(keys, SomeRanks(keys.size())));
}

TEST(PickKeys, AtNoRankOrAllRanks) {
  std::vector<uint64_t> keys(300);
  std::mt19937_64 random(3);
  for (uint64_t& key : keys) key = random() % 100000 * 1000 + (&key - keys.data());
  PickKeys(keys, {}, {});
  std::vector<int64_t> ranks(keys.size());
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int64_t>(i);
  ExpectAsSorted(keys, ranks);
}

}  // namespace
}  // namespace torus::parallel
