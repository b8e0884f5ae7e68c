// The two halves of a ring all-reduce, alone.
#include <gtest/gtest.h>

#include "parallel/collectives/chunk.h"
#include "parallel/collectives/ring.h"
#include "parallel/transport/run_ranks.h"
#include "tests/parallel/collectives/terms.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

using Half = void (*)(Transport&, std::span<float>, const std::string&);

std::vector<int64_t> Lengths(int ranks) { return {0, 1, ranks - 1, ranks, ranks + 1, 300'007}; }

// Checks each rank's result, and that it sends `sent` elements.
void Check(int ranks, int64_t count, Half half, int64_t (*sent)(int ranks, int rank, int64_t count),
           const std::function<void(int rank, std::vector<float>& data)>& fill,
           const std::function<void(int rank, const std::vector<float>& data)>& check) {
  InProcessWorld world(ranks);
  RunRanks(world, [&](Transport& t) {
    std::vector<float> data(count, -1);
    fill(t.rank(), data);
    half(t, std::span<float>(data), "test");
    check(t.rank(), data);
  });
  for (int rank = 0; rank < ranks; ++rank)
    EXPECT_EQ(SentBy(world.transport(rank)), sizeof(float) * sent(ranks, rank, count))
        << rank << " of " << ranks << ", " << count;
}

void ExpectEqualParts(const std::vector<float>& got, const std::vector<float>& wanted,
                      const Chunk& chunk) {
  for (int64_t i = chunk.begin; i < chunk.begin + chunk.size; ++i) ASSERT_EQ(got[i], wanted[i]);
}

int64_t AllButOwn(int ranks, int rank, int64_t count) {
  return count - ChunkOf(count, ranks, rank).size;
}

TEST(ReduceScatter, LeavesEachRankItsChunk) {
  for (int n = 1; n <= 8; ++n)
    for (const int64_t count : Lengths(n))
      Check(
          n, count, RingReduceScatter<float>, AllButOwn,
          [&](int rank, std::vector<float>& data) { data = Terms<float>(rank, count); },
          [&](int rank, const std::vector<float>& data) {
            ExpectEqualParts(data, Sums<float>(n, count), ChunkOf(count, n, rank));
          });
}

TEST(AllGather, GivesAllTheChunks) {
  const auto sent = [](int n, int rank, int64_t count) {
    return n == 1 ? 0 : count - ChunkOf(count, n, rank + 1).size;
  };
  for (int n = 1; n <= 8; ++n)
    for (const int64_t count : Lengths(n)) {
      const std::vector<float> all = Terms<float>(3, count);
      Check(
          n, count, RingAllGather<float>, sent,
          [&](int rank, std::vector<float>& data) {
            const Chunk own = ChunkOf(count, n, rank);
            std::copy_n(all.begin() + own.begin, own.size, data.begin() + own.begin);
          },
          [&](int, const std::vector<float>& data) { EXPECT_TRUE(data == all); });
    }
}

}  // namespace
}  // namespace torus::parallel
