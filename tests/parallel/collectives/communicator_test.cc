// Every operation of a communicator against a serial reference in its documented order.
#include "parallel/collectives/communicator.h"

#include <gtest/gtest.h>

#include <array>

#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "tests/parallel/collectives/communicator_cases.h"
#include "tests/parallel/collectives/terms.h"

namespace torus::parallel {
namespace {

// To 9: powers of two and what lies between.
constexpr int kMostRanks = 9;

TEST(CommunicatorMessages, EveryRankGetsTheRecordsOfAllInRankOrder) {
  for (int ranks = 1; ranks <= kMostRanks; ++ranks)
    RunRanks(ranks, [&](Transport& world) {
      Communicator communicator(world);
      for (int round = 0; round < 3; ++round) {
        const std::vector<int> all = communicator.Share(10 * world.rank() + round, "numbers");
        ASSERT_EQ(all.size(), static_cast<size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ(all[rank], 10 * rank + round);
      }
      for (int peer = 0; peer < ranks; ++peer)
        for (const TagClass kind : {TagClass::kCollective, TagClass::kUser})
          EXPECT_EQ(world.BytesSent(peer, kind), 0u);
    });
}

TEST(CommunicatorMessages, RankZeroGetsBytesOfEverySize) {
  for (int ranks = 1; ranks <= kMostRanks; ++ranks)
    RunRanks(ranks, [&](Transport& world) {
      Communicator communicator(world);
      const std::vector<std::byte> mine(world.rank() % 4, std::byte(world.rank()));
      const auto all = communicator.Gather(mine, "bytes");
      ASSERT_EQ(all.size(), world.rank() == 0 ? static_cast<size_t>(ranks) : 0u);
      for (int rank = 0; rank < static_cast<int>(all.size()); ++rank)
        EXPECT_EQ(all[rank], std::vector<std::byte>(rank % 4, std::byte(rank)));
    });
}

// Rank 0 has made all its announcements before another rank has taken the first.
TEST(CommunicatorMessages, RankZeroAnnouncesWithoutWaiting) {
  RunRanks(4, [](Transport& world) {
    Communicator communicator(world);
    const bool first = world.rank() == 0;
    for (uint8_t i = 0; first && i < 5; ++i) communicator.Announce(i, "number");
    communicator.Share(0, "whether rank 0 has made all");
    for (uint8_t i = 0; !first && i < 5; ++i) EXPECT_EQ(communicator.Announce(99, "number"), i);
    communicator.Share(0, "whether all have taken them");
  });
}

TEST(CommunicatorMessages, AllGetBytesOfEverySize) {
  for (int ranks = 1; ranks <= kMostRanks; ++ranks)
    RunRanks(ranks, [&](Transport& world) {
      Communicator communicator(world);
      const std::vector<std::byte> mine(3 * world.rank() % 5, std::byte(world.rank()));
      const auto all = communicator.ShareBytes(mine, "bytes");
      ASSERT_EQ(all.size(), static_cast<size_t>(ranks));
      for (int rank = 0; rank < ranks; ++rank)
        EXPECT_EQ(all[rank], std::vector<std::byte>(3 * rank % 5, std::byte(rank)));
    });
}

TEST(CommunicatorMessages, AllGetTheTextOfRankZero) {
  for (const std::string text : {"", "a text", "another, longer text"})
    RunRanks(5, [&](Transport& world) {
      const std::string own = world.rank() == 0 ? text : "of another rank";
      EXPECT_EQ(Communicator(world).BroadcastText(own, "text"), text);
    });
}

TEST(Communicator, DoesEveryOperationOfAllRanksOfAWorld) {
  for (int ranks = 1; ranks <= 5; ++ranks)
    RunRanks(ranks, [](Transport& world) {
      Communicator communicator(world);
      testing::CheckEveryOperation(communicator);
    });
}

TEST(Communicator, DoesEveryOperationOfSomeRanksInAnotherOrder) {
  RunRanks(5, [](Transport& world) {
    if (world.rank() == 1) return;
    Communicator communicator(world, {4, 0, 3, 2});
    testing::CheckEveryOperation(communicator);
  });
}

// Of any algorithm, to those of a call that waits.
TEST(Communicator, EveryAlgorithmCanBeStarted) {
  for (const AllReduceAlgorithm algorithm :
       {AllReduceAlgorithm::kDirect, AllReduceAlgorithm::kRing,
        AllReduceAlgorithm::kHalvingDoubling, AllReduceAlgorithm::kTree})
    RunRanks(5, [&](Transport& world) {
      Communicator communicator(world, {algorithm});
      std::vector<float> waits = testing::Terms<float>(world.rank(), 1001), started = waits;
      communicator.AllReduce<float>(waits, "sum");
      const auto sum =
          communicator.StartAllReduce(BufferOf(std::span(started)), DType::kF32, "sum", 0);
      sum->Advance();
      sum->Finish();
      EXPECT_TRUE(sum->Advance());
      EXPECT_EQ(started, waits);
    });
}

TEST(Communicator, SumsTensorsInNewMemoryAndRoundsNarrowOnesOnce) {
  for (const DType dtype : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16})
    RunRanks(4, [&](Transport& world) {
      // 1 + 3 * 2^-9 is between two numbers of bf16, and nearer to the one above.
      const double value = world.rank() == 0 ? 1 : 0x1p-9;
      const Tensor own = Full({3, 5}, value, dtype);
      const Tensor sum = Communicator(world).AllReduce(own, "sum");
      EXPECT_EQ(sum.dtype(), dtype);
      EXPECT_EQ(sum.shape(), own.shape());
      const double want = Full({}, 1 + 3 * 0x1p-9, dtype).Item();
      EXPECT_EQ(ToVector<double>(sum.To(DType::kF64)), std::vector<double>(15, want));
      EXPECT_EQ(ToVector<double>(own.To(DType::kF64)), std::vector<double>(15, value));
    });
}

TEST(Communicator, GathersTensors) {
  RunRanks(3, [](Transport& world) {
    const Tensor own = Full({2, 2}, world.rank()).Transpose(0, 1);
    const std::vector<Tensor> all = Communicator(world).AllGather(own, "tensors");
    ASSERT_EQ(all.size(), 3u);
    for (int r = 0; r < 3; ++r)
      EXPECT_EQ(ToVector<float>(all[r]), std::vector<float>(4, static_cast<float>(r)));
  });
}

TEST(Communicator, RefusesWhatItCannotSum) {
  RunRanks(2, [](Transport& world) {
    Communicator communicator(world);
    std::array<uint8_t, 2> bytes{};
    EXPECT_THROW(communicator.AllReduce({bytes.data(), 2}, DType::kU8, "bytes"), BadInput);
    EXPECT_THROW(communicator.ReduceScatter({{}, {}}, DType::kBF16, "rows"), BadInput);
    EXPECT_THROW(communicator.ReduceScatter({{}}, DType::kF32, "rows"), BadInput);
    EXPECT_THROW(communicator.Gather(2, {{}, {}}, "rows"), BadInput);
    const Tensor strided = Zeros({2, 3}).Transpose(0, 1);
    EXPECT_THROW(communicator.Broadcast({{"strided", strided}}, "test"), BadInput);
  });
}

// One that has no engine refuses sums by one; one rank needs none.
TEST(Communicator, SumsByAnEngineOnlyWhereThereIsOne) {
  for (const int ranks : {1, 2})
    RunRanks(ranks, [&](Transport& world) {
      Communicator communicator(world, {AllReduceAlgorithm::kEngine});
      std::vector<float> data{1};
      if (ranks == 1)
        communicator.AllReduce<float>(data, "sum");
      else
        EXPECT_THROW(communicator.AllReduce<float>(data, "sum"), BadInput);
      EXPECT_FALSE(communicator.MeetEngine());
    });
}

}  // namespace
}  // namespace torus::parallel
