#include "parallel/collectives/all_reduce.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <tuple>
#include <vector>

#include "parallel/collectives/chunk.h"
#include "parallel/transport/group.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "tests/parallel/collectives/terms.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

std::vector<int64_t> Lengths(int ranks) { return {0, 1, ranks - 1, ranks, ranks + 1, 1'000'003}; }

template <class T>
void CheckAllReduce(AllReduceAlgorithm algorithm, int ranks, int64_t count) {
  InProcessWorld world(ranks);
  std::vector<std::vector<T>> results(ranks);
  RunRanks(world, [&](Transport& t) {
    std::vector<T> data = Terms<T>(t.rank(), count);
    AllReduce(t, std::span<T>(data), "test", algorithm);
    results[t.rank()] = std::move(data);
  });
  EXPECT_TRUE(results[0] == Sums<T>(ranks, count)) << ranks << " ranks, " << count << " elements";
  uint64_t total = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_TRUE(count == 0 ||
                std::memcmp(results[rank].data(), results[0].data(), count * sizeof(T)) == 0);
    const uint64_t sent = SentBy(world.transport(rank));
    EXPECT_EQ(sent, AllReduceBytesSent(algorithm, ranks, rank, count, sizeof(T))) << rank;
    total += sent;
  }
  // No algorithm needs less; the fold of halving-doubling needs more.
  EXPECT_GE(total, 2ull * (ranks - 1) * count * sizeof(T));
  if (algorithm != AllReduceAlgorithm::kHalvingDoubling || (ranks & (ranks - 1)) == 0) {
    EXPECT_EQ(total, 2ull * (ranks - 1) * count * sizeof(T));
  }
}

class AllReduceRanks : public ::testing::TestWithParam<std::tuple<AllReduceAlgorithm, int>> {};

TEST_P(AllReduceRanks, SumsExactlyAndSendsWhatTheFormulaSays) {
  const auto [algorithm, ranks] = GetParam();
  for (const int64_t count : Lengths(ranks)) {
    CheckAllReduce<float>(algorithm, ranks, count);
    CheckAllReduce<int32_t>(algorithm, ranks, count);
    if (count > 1000) continue;
    CheckAllReduce<int64_t>(algorithm, ranks, count);
    CheckAllReduce<double>(algorithm, ranks, count);
  }
}

TEST_P(AllReduceRanks, WholeNumbersWrapAround) {
  const auto [algorithm, ranks] = GetParam();
  RunRanks(ranks, [algorithm = algorithm, ranks = ranks](Transport& t) {
    constexpr int32_t kLargest = std::numeric_limits<int32_t>::max();
    std::vector<int32_t> data(9, kLargest);
    AllReduce(t, std::span<int32_t>(data), "test", algorithm);
    const auto sum =
        static_cast<int32_t>(static_cast<uint32_t>(ranks) * static_cast<uint32_t>(kLargest));
    EXPECT_EQ(data, std::vector<int32_t>(9, sum));
  });
}

INSTANTIATE_TEST_SUITE_P(OneToEight, AllReduceRanks,
                         ::testing::Combine(::testing::ValuesIn(EveryAlgorithm()),
                                            ::testing::Range(1, 9)),
                         [](const auto& info) {
                           return TestName(std::get<0>(info.param)) +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(AllReduce, OfMoreRanksToo) {
  for (const AllReduceAlgorithm algorithm : EveryAlgorithm())
    for (const int ranks : {13, 15, 16}) CheckAllReduce<float>(algorithm, ranks, 1009);
}

TEST(AllReduce, AlgorithmsHaveNames) {
  EXPECT_EQ(AllReduceNames(),
            (std::vector<std::string>{"direct", "ring", "halving-doubling", "tree", "engine"}));
  EXPECT_EQ(AllReduceByName("direct"), AllReduceAlgorithm::kDirect);
  EXPECT_EQ(AllReduceByName("ring"), AllReduceAlgorithm::kRing);
  EXPECT_EQ(AllReduceByName("halving-doubling"), AllReduceAlgorithm::kHalvingDoubling);
  EXPECT_EQ(AllReduceByName("tree"), AllReduceAlgorithm::kTree);
  EXPECT_EQ(AllReduceByName("engine"), AllReduceAlgorithm::kEngine);
  try {
    AllReduceByName("star");
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(),
                 "[all-reduce] unknown algorithm \"star\"; there are: direct, ring, "
                 "halving-doubling, tree, engine");
  }
}

TEST(ChunkOf, SizesDifferByAtMostOneAndCover) {
  for (int n = 1; n <= 15; ++n) {
    for (const int64_t count : Lengths(n)) {
      int64_t next = 0;
      for (int i = 0; i < n; ++i) {
        const Chunk chunk = ChunkOf(count, n, i);
        EXPECT_EQ(chunk.begin, next);
        EXPECT_TRUE(chunk.size == count / n || chunk.size == count / n + 1);
        next += chunk.size;
      }
      EXPECT_EQ(next, count);
    }
  }
  EXPECT_EQ(ChunkOf(10, 3, -1).begin, ChunkOf(10, 3, 2).begin);
}

class AllReduceEach : public ::testing::TestWithParam<AllReduceAlgorithm> {};

TEST_P(AllReduceEach, TwoGroupsAtOnce) {
  RunRanks(6, [&](Transport& t) {
    const int parity = t.rank() % 2;
    Group group(t, {parity, parity + 2, parity + 4});
    std::vector<int64_t> data(5, t.rank());
    AllReduce(group, std::span<int64_t>(data), "test", GetParam());
    EXPECT_EQ(data, std::vector<int64_t>(5, 3 * parity + 6));
  });
}

TEST_P(AllReduceEach, OneAfterTheOtherStayApart) {
  RunRanks(5, [&](Transport& t) {
    for (int64_t round = 0; round < 50; ++round) {
      std::vector<int64_t> data(1 + round % 11, round + t.rank());
      AllReduce(t, std::span<int64_t>(data), "test", GetParam());
      ASSERT_EQ(data, std::vector<int64_t>(1 + round % 11, 5 * round + 10));
    }
  });
}

TEST_P(AllReduceEach, LengthsThatDifferAreAnError) {
  EXPECT_THROW(RunRanks(2,
                        [&](Transport& t) {
                          std::vector<float> data(8 + 2 * t.rank());
                          AllReduce(t, std::span<float>(data), "test", GetParam());
                        }),
               BadInput);
}

INSTANTIATE_TEST_SUITE_P(Each, AllReduceEach, ::testing::ValuesIn(EveryAlgorithm()),
                         [](const auto& info) { return TestName(info.param); });

}  // namespace
}  // namespace torus::parallel
