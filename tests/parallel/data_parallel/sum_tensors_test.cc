// Sums of tensor-parallel ranks: in the CPU's memory, and by an engine where the tensors lie, which
// a fake of NCCL stands for.
#include "parallel/data_parallel/sum_tensors.h"

#include <gtest/gtest.h>

#include "parallel/collectives/engine_all_reduce.h"
#include "tests/parallel/transport/nccl/fake_test.h"

namespace torus::parallel {
namespace {

constexpr DType kTypes[] = {DType::kF32, DType::kF64, DType::kBF16};

// Whole numbers, whose sums are exact in every order and type.
void ExpectSums(Transport& ranks, Engine* engine) {
  const int n = ranks.size();
  for (const DType dtype : kTypes) {
    const Tensor own = Full({3, 5}, ranks.rank() + 1, dtype);
    const Tensor sum = SumTensors(ranks, own, "a sum", engine);
    EXPECT_EQ(sum.dtype(), dtype);
    EXPECT_EQ(sum.shape(), own.shape());
    EXPECT_EQ(ToVector<double>(sum.To(DType::kF64)), std::vector<double>(15, n * (n + 1) / 2.0));
    EXPECT_EQ(ToVector<double>(own.To(DType::kF64)), std::vector<double>(15, ranks.rank() + 1));
  }
}

TEST(SumTensors, AreMadeByAnEngineWhereThereIsOne) {
  for (const int n : {2, 3, 4})
    RunOverFake(n, kLong, [](Transport& ranks, FakeNccl& fake) {
      Engine* const engine = EngineOfAll(ranks);
      ASSERT_NE(engine, nullptr);
      ExpectSums(ranks, engine);
      // 16 bits are summed as 32.
      const std::vector<std::string> sums = Starting(fake.calls(), "sum");
      EXPECT_GE(sums.size(), std::size(kTypes));
      for (const std::string& sum : sums)
        EXPECT_TRUE(sum.find("60 bytes") != sum.npos || sum.find("120 bytes") != sum.npos) << sum;
    });
}

TEST(SumTensors, AreMadeInTheCpusMemoryWithoutOne) {
  RunOverFake(3, kLong, [](Transport& ranks, FakeNccl& fake) {
    ExpectSums(ranks, nullptr);
    EXPECT_TRUE(Starting(fake.calls(), "sum").empty());
  });
}

// The order is the engine's: the fake's is another one than ours.
TEST(SumTensors, OfAnEngineAreTheSameBitsOnAllRanks) {
  constexpr int kRanks = 4;
  std::vector<std::vector<float>> by_engine(kRanks), direct(kRanks);
  RunOverFake(kRanks, kLong, [&](Transport& ranks, FakeNccl&) {
    // In pairs of neighbours 16, from the last to the first 13.
    constexpr double kTerms[] = {5, 1e8, 5, -1e8};
    const Tensor own = Full({100}, kTerms[ranks.rank()], DType::kF32);
    by_engine[ranks.rank()] = ToVector<float>(SumTensors(ranks, own, "e", EngineOfAll(ranks)));
    direct[ranks.rank()] = ToVector<float>(SumTensors(ranks, own, "d"));
  });
  for (int r = 1; r < kRanks; ++r) {
    EXPECT_EQ(by_engine[r], by_engine[0]);
    EXPECT_EQ(direct[r], direct[0]);
  }
  EXPECT_NE(by_engine[0], direct[0]);
}

TEST(SumTensors, ARankThatDoesNotComeIsNamed) {
  const std::string error = ErrorOf(2, [](Transport& ranks, FakeNccl&) {
    Engine* const engine = EngineOfAll(ranks);
    if (ranks.rank() == 0) SumTensors(ranks, Full({4}, 1), "the sum of stage 1", engine);
  });
  ExpectHolds(error, {"the sum of stage 1", "rank 1"});
}

}  // namespace
}  // namespace torus::parallel
