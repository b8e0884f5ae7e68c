#include "data/text/windows.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "data/loading/loader.h"
#include "data/loading/stacked_batch.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

using Ids = std::vector<int64_t>;

// 0, 1, 2, ...
TokenVector Counting(int32_t size) {
  std::vector<int32_t> ids(size);
  std::iota(ids.begin(), ids.end(), 0);
  return {"counting", size, std::move(ids)};
}

TEST(DisjointWindows, PredictEachTokenOnce) {
  const TokenVector tokens = Counting(11);
  const DisjointWindows windows(tokens, 3);
  ASSERT_EQ(windows.size(), 3);
  EXPECT_EQ(ToVector<int64_t>(windows.Get(2).inputs[0]), (Ids{6, 7, 8}));
  EXPECT_EQ(ToVector<int64_t>(windows.Get(2).target), (Ids{7, 8, 9}));
  EXPECT_EQ(DisjointWindows(tokens, 10).size(), 1);
  EXPECT_EQ(DisjointWindows(tokens, 5).size(), 2);
  const Batch batch = StackedBatches(windows)({.indices = {1, 0}, .samples = {0, 1}});
  EXPECT_EQ(ToVector<int64_t>(batch.inputs[0]), (Ids{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(batch.target.shape(), (Shape{2, 3}));
  ExpectBadInput([&] { windows.Get(3); }, "[counting]", "0 to 2, got 3");
  ExpectBadInput([&] { DisjointWindows(tokens, 0); }, "[counting]", "at least 1 token, got 0");
  ExpectBadInput([&] { DisjointWindows(tokens, 11); }, "[counting]",
                 "requires 12 tokens or more for windows of 11 (--length), got 11");
}

TEST(RandomWindows, AreWindowsOfTheText) {
  const TokenVector tokens = Counting(9);
  const MakeBatch make = RandomWindows(tokens, {.length = 4, .seed = 1});
  std::vector<int64_t> indices(500);
  std::iota(indices.begin(), indices.end(), 0);
  const Batch batch = make({.epoch = 0, .indices = indices, .samples = indices});
  const Ids ids = ToVector<int64_t>(batch.inputs[0]), targets = ToVector<int64_t>(batch.target);
  std::set<int64_t> begins;
  for (int row = 0; row < 500; ++row) {
    begins.insert(ids[4 * row]);
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(ids[4 * row + i], ids[4 * row] + i);
      ASSERT_EQ(targets[4 * row + i], ids[4 * row] + i + 1);
    }
  }
  // Each of the five places: one missing among 500 draws has a chance of (4/5)^500.
  EXPECT_EQ(begins, (std::set<int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(make({}).inputs[0].shape(), (Shape{0, 4}));
}

// By seed, epoch and index alone.
TEST(RandomWindows, DependOnNothingElse) {
  const TokenVector tokens = Counting(1000);
  const RandomWindowOptions options{.length = 4, .seed = 5};
  const MakeBatch make = RandomWindows(tokens, options);
  const Batch two = make({.epoch = 3, .indices = {8, 9}, .samples = {0, 1}});
  const Batch one = make({.epoch = 3, .indices = {9}, .samples = {7}});
  EXPECT_EQ(ToVector<int64_t>(two.inputs[0].Select(0, 1)),
            ToVector<int64_t>(one.inputs[0].Select(0, 0)));
  EXPECT_EQ(ToVector<int64_t>(one.inputs[0])[0], RandomWindowBegin(tokens, options, 3, 9));
  std::set<int64_t> begins;
  for (const uint64_t seed : {5, 6}) {
    for (const int64_t epoch : {3, 4})
      begins.insert(RandomWindowBegin(tokens, {.length = 4, .seed = seed}, epoch, 9));
  }
  EXPECT_EQ(begins.size(), 4u);
}

// The same mini-batch whatever the replicas.
TEST(RandomWindows, GoThroughTheLoader) {
  const TokenVector tokens = Counting(1000);
  const auto rows = [&](int replicas) {
    const Sampler sampler({.size = 40, .batch_size = 4, .shuffle = false});
    Loader loader(sampler, RandomWindows(tokens, {.length = 2, .seed = 1}),
                  {.replicas = replicas, .steps = 11});
    Ids all;
    for (int64_t step = 0; step < 11; ++step) {
      for (int replica = 0; replica < replicas; ++replica) {
        const Ids part = ToVector<int64_t>(loader.Fetch(step, replica, 0)->inputs[0]);
        all.insert(all.end(), part.begin(), part.end());
      }
    }
    return all;
  };
  const Ids one = rows(1);
  EXPECT_EQ(one, rows(4));
  // The eleventh step is the next epoch's first: other windows.
  EXPECT_NE(Ids(one.begin(), one.begin() + 8), Ids(one.end() - 8, one.end()));
}

TEST(TokenVector, RefusesTokensBeyondItsVocabulary) {
  ExpectBadInput([] { TokenVector("x", 3, {0, 3}); }, "[x]", "0 to 2, got 3 at 1");
}

}  // namespace
}  // namespace torus::data
