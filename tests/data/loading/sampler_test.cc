#include "data/loading/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

std::vector<int64_t> Ascending(int64_t count) {
  std::vector<int64_t> values(count);
  std::iota(values.begin(), values.end(), int64_t{0});
  return values;
}

// All indices of one epoch, in order.
std::vector<int64_t> Epoch(Sampler& sampler, int64_t epoch) {
  sampler.SetEpoch(epoch);
  std::vector<int64_t> all;
  for (int64_t i = 0; i < sampler.batches_per_epoch(); ++i) {
    const MiniBatch batch = sampler.Next();
    EXPECT_EQ(batch.epoch, epoch);
    EXPECT_EQ(batch.number, i);
    all.insert(all.end(), batch.indices.begin(), batch.indices.end());
  }
  return all;
}

TEST(ShuffledOrder, IsAPermutation) {
  for (const int64_t size : {1, 2, 3, 17, 1000}) {
    std::vector<int64_t> order = ShuffledOrder(size, 5, 0);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, Ascending(size));
  }
}

TEST(ShuffledOrder, DependsOnSeedAndEpochAlone) {
  EXPECT_EQ(ShuffledOrder(100, 1, 2), ShuffledOrder(100, 1, 2));
  EXPECT_NE(ShuffledOrder(100, 1, 2), ShuffledOrder(100, 1, 3));
  EXPECT_NE(ShuffledOrder(100, 1, 2), ShuffledOrder(100, 2, 2));
}

// Every order of four elements appears about as often: chi-squared with 23 degrees of freedom,
// whose mean is 23 and standard deviation sqrt(46) = 6.8; 80 lies beyond eight of them.
TEST(ShuffledOrder, IsFair) {
  std::map<std::vector<int64_t>, int> counts;
  constexpr int kRuns = 24000;
  for (int epoch = 0; epoch < kRuns; ++epoch) ++counts[ShuffledOrder(4, 9, epoch)];
  ASSERT_EQ(counts.size(), 24u);
  double chi_squared = 0;
  for (const auto& [order, count] : counts) {
    chi_squared += (count - kRuns / 24.0) * (count - kRuns / 24.0) / (kRuns / 24.0);
  }
  EXPECT_LT(chi_squared, 80);
}

TEST(Sampler, CoversEachEpochOnceAndKeepsTheLastPartialBatch) {
  Sampler sampler({.size = 103, .batch_size = 10, .seed = 3});
  EXPECT_EQ(sampler.batches_per_epoch(), 11);
  std::vector<int64_t> first = Epoch(sampler, 0), second = Epoch(sampler, 1);
  EXPECT_NE(first, second);
  EXPECT_EQ(first, ShuffledOrder(103, 3, 0));
  std::sort(second.begin(), second.end());
  EXPECT_EQ(second, Ascending(103));
  sampler.Seek({1, 10});
  EXPECT_EQ(sampler.Next().indices.size(), 3u);
  EXPECT_EQ(sampler.position(), (SamplerPosition{2, 0}));
}

TEST(Sampler, ResumesInTheMiddleOfAnEpoch) {
  Sampler whole({.size = 50, .batch_size = 8, .seed = 3});
  for (int i = 0; i < 10; ++i) whole.Next();
  Sampler resumed({.size = 50, .batch_size = 8, .seed = 3});
  resumed.Seek(whole.position());
  EXPECT_EQ(whole.position(), (SamplerPosition{1, 3}));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(resumed.Next().indices, whole.Next().indices);
}

TEST(Sampler, EvaluationOrderIsAscendingInEveryEpoch) {
  Sampler sampler({.size = 7, .batch_size = 3, .seed = 3, .shuffle = false});
  EXPECT_EQ(Epoch(sampler, 0), Ascending(7));
  EXPECT_EQ(Epoch(sampler, 5), Ascending(7));
}

// A list of its examples would take 8 TB.
TEST(Sampler, AnAscendingEpochMayHaveAnySize) {
  Sampler sampler({.size = int64_t{1} << 40, .batch_size = 3, .shuffle = false});
  sampler.Seek({1, 2});
  EXPECT_EQ(sampler.Next().indices, (std::vector<int64_t>{6, 7, 8}));
}

TEST(Sampler, CountsStepsOverEpochs) {
  const Sampler sampler({.size = 7, .batch_size = 3});
  EXPECT_EQ(sampler.StepOf({2, 1}), 7);
  EXPECT_EQ(sampler.PositionOf(7), (SamplerPosition{2, 1}));
}

TEST(Sampler, RefusesBadPositionsAndSizes) {
  Sampler sampler({.size = 7, .batch_size = 3});
  ExpectBadInput([&] { sampler.Seek({0, 3}); }, "[sampler]", "0 to 2, got 3");
  ExpectBadInput([&] { sampler.Seek({-1, 0}); }, "[sampler]", "epoch -1");
  ExpectBadInput([] { Sampler({.size = 0, .batch_size = 3}); }, "[sampler]", "got 0");
  ExpectBadInput([] { Sampler({.size = 3, .batch_size = 0}); }, "[sampler]", "got 0");
}

TEST(Sampler, LeavesOutASmallerLastBatchWhereItIsTold) {
  for (const int64_t size : {12, 14, 17}) {
    Sampler sampler({.size = size, .batch_size = 6, .seed = 3, .drop_last = true});
    EXPECT_EQ(sampler.batches_per_epoch(), 2);
    for (int64_t epoch = 0; epoch < 3; ++epoch) EXPECT_EQ(Epoch(sampler, epoch).size(), 12u);
  }
  EXPECT_THROW(Sampler({.size = 5, .batch_size = 6, .drop_last = true}), BadInput);
}

}  // namespace
}  // namespace torus::data
