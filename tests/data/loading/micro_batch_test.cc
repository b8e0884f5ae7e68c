#include "data/loading/micro_batch.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

MiniBatch BatchOf(int64_t count) {
  MiniBatch batch{.epoch = 4, .number = 2, .indices = std::vector<int64_t>(count)};
  std::iota(batch.indices.begin(), batch.indices.end(), int64_t{100});
  return batch;
}

TEST(PartOf, CoversAllInOrderWithSizesThatDifferByOneAtMost) {
  for (int64_t count = 0; count <= 40; ++count) {
    for (int64_t parts = 1; parts <= 17; ++parts) {
      int64_t next = 0, before = PartOf(count, parts, 0).size();
      for (int64_t part = 0; part < parts; ++part) {
        const Range range = PartOf(count, parts, part);
        EXPECT_EQ(range.begin, next);
        EXPECT_LE(range.size(), before);  // the larger ones first
        EXPECT_GE(range.size(), count / parts);
        EXPECT_LE(range.size(), (count + parts - 1) / parts);
        next = range.end;
        before = range.size();
      }
      EXPECT_EQ(next, count);
    }
  }
}

TEST(SplitMiniBatch, DependsOnTheProductOfReplicasAndMicroBatchesAlone) {
  const MiniBatch batch = BatchOf(30);
  const int layouts[][2] = {{1, 8}, {2, 4}, {4, 2}, {8, 1}};
  for (const auto& [replicas, micro_batches] : layouts) {
    for (int part = 0; part < 8; ++part) {
      const MicroBatch one = SplitMiniBatch(batch, 1, 8, 0, part);
      const MicroBatch other = SplitMiniBatch(batch, replicas, micro_batches, part / micro_batches,
                                              part % micro_batches);
      EXPECT_EQ(other.indices, one.indices);
      EXPECT_EQ(other.samples, one.samples);
    }
  }
}

TEST(SplitMiniBatch, GivesIndicesPositionsAndEpoch) {
  const MicroBatch part = SplitMiniBatch(BatchOf(10), 2, 2, 1, 0);  // sizes 3, 3, 2, 2
  EXPECT_EQ(part.epoch, 4);
  EXPECT_EQ(part.indices, (std::vector<int64_t>{106, 107}));
  EXPECT_EQ(part.samples, (std::vector<int64_t>{6, 7}));
}

TEST(SplitMiniBatch, LastPartsOfASmallBatchAreEmpty) {
  EXPECT_EQ(SplitMiniBatch(BatchOf(2), 2, 2, 0, 1).indices, std::vector<int64_t>{101});
  EXPECT_TRUE(SplitMiniBatch(BatchOf(2), 2, 2, 1, 1).samples.empty());
}

TEST(SplitMiniBatch, RefusesPartsThatAreNot) {
  ExpectBadInput([] { SplitMiniBatch(BatchOf(2), 2, 3, 2, 0); }, "[micro-batch]", "got 2 and 0");
  ExpectBadInput([] { SplitMiniBatch(BatchOf(2), 2, 3, 0, -1); }, "[micro-batch]", "got 0 and -1");
}

}  // namespace
}  // namespace torus::data
