#include "parallel/collectives/all_reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <tuple>
#include <vector>

#include "parallel/collectives/chunk.h"
#include "parallel/collectives/direct.h"
#include "parallel/collectives/ring.h"
#include "parallel/transport/group.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

std::vector<int64_t> Lengths(int ranks) { return {0, 1, ranks - 1, ranks, 10007, 1 << 20}; }

// Small whole numbers, so that floats add up exactly; different on every rank, and of a short
// period, so that a long sum is cheap to check under a sanitizer.
constexpr int64_t kPeriod = 101;

template <class T>
T Term(int rank, int64_t i) {
  return static_cast<T>((i * 7 + rank * 13) % kPeriod - 50);
}

template <class T>
std::vector<T> Repeat(const std::vector<T>& period, int64_t count) {
  std::vector<T> data(count);
  for (int64_t i = 0; i < count; i += kPeriod) {
    std::memcpy(&data[i], period.data(), std::min(kPeriod, count - i) * sizeof(T));
  }
  return data;
}

template <class T>
std::vector<T> Terms(int rank, int64_t count) {
  std::vector<T> period(kPeriod);
  for (int64_t i = 0; i < kPeriod; ++i) period[i] = Term<T>(rank, i);
  return Repeat(period, count);
}

template <class T>
std::vector<T> Sums(int ranks, int64_t count) {
  std::vector<T> period(kPeriod, 0);
  for (int64_t i = 0; i < kPeriod; ++i) {
    for (int rank = 0; rank < ranks; ++rank) period[i] += Term<T>(rank, i);
  }
  return Repeat(period, count);
}

uint64_t SentBy(const InProcessWorld& world, int rank) {
  uint64_t bytes = 0;
  for (int to = 0; to < world.size(); ++to) {
    bytes += world.BytesSent(rank, to, TagClass::kCollective);
  }
  return bytes;
}

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
    EXPECT_EQ(SentBy(world, rank), AllReduceBytesSent(ranks, rank, count, sizeof(T)));
    total += SentBy(world, rank);
  }
  EXPECT_EQ(total, 2ull * (ranks - 1) * count * sizeof(T));
}

class AllReduceRanks : public testing::TestWithParam<std::tuple<AllReduceAlgorithm, int>> {
 public:
  AllReduceAlgorithm algorithm() const { return std::get<0>(GetParam()); }
  int ranks() const { return std::get<1>(GetParam()); }
};

TEST_P(AllReduceRanks, SumsExactlyAndSendsWhatTheFormulaSays) {
  for (const int64_t count : Lengths(ranks())) {
    CheckAllReduce<int32_t>(algorithm(), ranks(), count);
    CheckAllReduce<float>(algorithm(), ranks(), count);
    if (count > 10007) continue;
    CheckAllReduce<int64_t>(algorithm(), ranks(), count);
    CheckAllReduce<double>(algorithm(), ranks(), count);
  }
}

TEST_P(AllReduceRanks, ReduceScatterLeavesEachRankItsChunk) {
  const int n = ranks();
  const int64_t count = 1009;
  RunRanks(n, [&](Transport& t) {
    std::vector<int64_t> data = Terms<int64_t>(t.rank(), count);
    if (algorithm() == AllReduceAlgorithm::kRing) {
      RingReduceScatter(t, std::span<int64_t>(data), "test");
    } else {
      DirectReduceScatter(t, std::span<int64_t>(data), "test");
    }
    const std::vector<int64_t> sums = Sums<int64_t>(n, count);
    const Chunk own = ChunkOf(count, n, t.rank() + 1);
    for (int64_t i = own.begin; i < own.begin + own.size; ++i) {
      ASSERT_EQ(data[i], sums[i]) << "rank " << t.rank();
    }
  });
}

// Terms that do not add up exactly: the order of sums shows, and must be the documented one.
TEST_P(AllReduceRanks, FloatsAddInTheDocumentedOrder) {
  const int n = ranks();
  const int64_t count = 103;
  const auto term = [](int rank, int64_t i) {
    return 1.0f / static_cast<float>(3 + rank * 31 + i);
  };
  RunRanks(n, [&](Transport& t) {
    std::vector<float> data(count);
    for (int64_t i = 0; i < count; ++i) data[i] = term(t.rank(), i);
    AllReduce(t, std::span<float>(data), "test", algorithm());
    for (int c = 0; c < n; ++c) {
      const int first = algorithm() == AllReduceAlgorithm::kRing ? c : 0;
      const Chunk chunk = ChunkOf(count, n, c);
      for (int64_t i = chunk.begin; i < chunk.begin + chunk.size; ++i) {
        float sum = term(first, i);
        for (int k = 1; k < n; ++k) sum += term((first + k) % n, i);
        ASSERT_EQ(data[i], sum);
      }
    }
  });
}

std::string AlgorithmName(AllReduceAlgorithm algorithm) {
  return algorithm == AllReduceAlgorithm::kRing ? "Ring" : "Direct";
}

INSTANTIATE_TEST_SUITE_P(OneToFifteen, AllReduceRanks,
                         testing::Combine(testing::Values(AllReduceAlgorithm::kDirect,
                                                          AllReduceAlgorithm::kRing),
                                          testing::Range(1, 16)),
                         [](const auto& info) {
                           return AlgorithmName(std::get<0>(info.param)) +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(AllReduce, AlgorithmsHaveNames) {
  EXPECT_EQ(AllReduceNames(), (std::vector<std::string>{"direct", "ring"}));
  EXPECT_EQ(AllReduceByName("direct"), AllReduceAlgorithm::kDirect);
  EXPECT_EQ(AllReduceByName("ring"), AllReduceAlgorithm::kRing);
  try {
    AllReduceByName("tree");
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(), "[all-reduce] unknown algorithm \"tree\"; there are: direct, ring");
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

class AllReduceBoth : public testing::TestWithParam<AllReduceAlgorithm> {};

TEST_P(AllReduceBoth, Mean) {
  RunRanks(4, [&](Transport& t) {
    std::vector<double> data(6, t.rank());
    AllReduce(t, std::span<double>(data), "test", GetParam(), ReduceOp::kMean);
    EXPECT_EQ(data, std::vector<double>(6, 1.5));
    std::vector<int32_t> whole(6, 1);
    EXPECT_THROW(AllReduce(t, std::span<int32_t>(whole), "test", GetParam(), ReduceOp::kMean),
                 BadInput);
  });
}

TEST_P(AllReduceBoth, TwoGroupsAtOnce) {
  RunRanks(6, [&](Transport& t) {
    const int parity = t.rank() % 2;
    Group group(t, {parity, parity + 2, parity + 4});
    std::vector<int64_t> data(5, t.rank());
    AllReduce(group, std::span<int64_t>(data), "test", GetParam());
    EXPECT_EQ(data, std::vector<int64_t>(5, 3 * parity + 6));
  });
}

TEST_P(AllReduceBoth, LengthsThatDifferAreAnError) {
  EXPECT_THROW(RunRanks(2,
                        [&](Transport& t) {
                          std::vector<float> data(8 + 2 * t.rank());
                          AllReduce(t, std::span<float>(data), "test", GetParam());
                        }),
               BadInput);
}

// By its error: no timeout comes before it.
TEST_P(AllReduceBoth, ARankThatStopsEndsItForAll) {
  InProcessWorld world(3, {.timeout = 600});
  try {
    RunRanks(world, [&](Transport& t) {
      std::vector<float> data(100);
      if (t.rank() == 1) Throw<BrokenEnvironment>("test", "out of paper");
      AllReduce(t, std::span<float>(data), "test", GetParam());
    });
    FAIL();
  } catch (const BrokenEnvironment& e) {
    EXPECT_STREQ(e.what(), "[test] out of paper");
  }
}

// A rank that hangs is named by those who wait for it, with what they wait for.
TEST_P(AllReduceBoth, ARankThatNeverComesIsNamed) {
  InProcessWorld world(3, {.timeout = 0.2});
  try {
    RunRanks(world, [&](Transport& t) {
      std::vector<float> data(100);
      if (t.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(600));
      AllReduce(t, std::span<float>(data), "sum of the test", GetParam());
    });
    FAIL();
  } catch (const BrokenEnvironment& e) {
    const std::string said = e.what();
    for (const char* part : {"waiting for rank 1 to", "(sum of the test, reduce-scatter 1 of",
                             "rank 1 shows no progress"})
      EXPECT_NE(said.find(part), std::string::npos) << said;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, AllReduceBoth,
                         testing::Values(AllReduceAlgorithm::kDirect, AllReduceAlgorithm::kRing),
                         [](const auto& info) { return AlgorithmName(info.param); });

}  // namespace
}  // namespace torus::parallel
