// Sums of tensors by an engine, which a fake of NCCL stands for, and without one.
#include <gtest/gtest.h>

#include "parallel/collectives/communicator.h"
#include "parallel/collectives/engine_all_reduce.h"
#include "tests/parallel/transport/nccl/fake_test.h"

namespace torus::parallel {
namespace {

constexpr CommunicatorOptions kByEngine{AllReduceAlgorithm::kEngine};
constexpr DType kTypes[] = {DType::kF32, DType::kF64, DType::kBF16};

// Whole numbers, whose sums are exact in every order and type.
void ExpectSums(Communicator& ranks) {
  const int n = ranks.size();
  for (const DType dtype : kTypes) {
    const Tensor own = Full({3, 5}, ranks.rank() + 1, dtype);
    const Tensor sum = ranks.AllReduce(own, "a sum");
    EXPECT_EQ(sum.dtype(), dtype);
    EXPECT_EQ(sum.shape(), own.shape());
    EXPECT_EQ(ToVector<double>(sum.To(DType::kF64)), std::vector<double>(15, n * (n + 1) / 2.0));
    EXPECT_EQ(ToVector<double>(own.To(DType::kF64)), std::vector<double>(15, ranks.rank() + 1));
  }
}

TEST(CommunicatorOfAnEngine, SumsByIt) {
  for (const int n : {2, 3, 4})
    RunOverFake(n, kLong, [](Transport& ranks, FakeNccl& fake) {
      Communicator communicator(ranks, kByEngine);
      ExpectSums(communicator);
      // 16 bits are summed as 32.
      const std::vector<std::string> sums = Starting(fake.calls(), "sum");
      EXPECT_GE(sums.size(), std::size(kTypes));
      for (const std::string& sum : sums)
        EXPECT_TRUE(sum.find("60 bytes") != sum.npos || sum.find("120 bytes") != sum.npos) << sum;
    });
}

TEST(CommunicatorOfAnEngine, LeavesItAloneUnlessAsked) {
  RunOverFake(3, kLong, [](Transport& ranks, FakeNccl& fake) {
    Communicator communicator(ranks);
    ExpectSums(communicator);
    EXPECT_TRUE(Starting(fake.calls(), "sum").empty());
  });
}

// The order is the engine's: the fake's is another one than ours.
TEST(CommunicatorOfAnEngine, GivesAllRanksTheSameBits) {
  constexpr int kRanks = 4;
  std::vector<std::vector<float>> by_engine(kRanks), direct(kRanks);
  RunOverFake(kRanks, kLong, [&](Transport& ranks, FakeNccl&) {
    // In pairs of neighbours 16, from the last to the first 13.
    constexpr double kTerms[] = {5, 1e8, 5, -1e8};
    const Tensor own = Full({100}, kTerms[ranks.rank()], DType::kF32);
    by_engine[ranks.rank()] = ToVector<float>(Communicator(ranks, kByEngine).AllReduce(own, "e"));
    direct[ranks.rank()] = ToVector<float>(Communicator(ranks).AllReduce(own, "d"));
  });
  for (int r = 1; r < kRanks; ++r) {
    EXPECT_EQ(by_engine[r], by_engine[0]);
    EXPECT_EQ(direct[r], direct[0]);
  }
  EXPECT_NE(by_engine[0], direct[0]);
}

TEST(CommunicatorOfAnEngine, NamesARankThatDoesNotCome) {
  const std::string error = ErrorOf(2, [](Transport& ranks, FakeNccl&) {
    Communicator communicator(ranks, kByEngine);
    (void)EngineOfAll(ranks);
    if (ranks.rank() == 0) communicator.AllReduce(Full({4}, 1), "the sum of stage 1");
  });
  ExpectHolds(error, {"the sum of stage 1", "rank 1"});
}

}  // namespace
}  // namespace torus::parallel
