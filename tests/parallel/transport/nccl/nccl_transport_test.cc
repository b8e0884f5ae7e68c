// What the NCCL transport asks of NCCL, and in which order; over a fake of NCCL.
#include "parallel/transport/nccl/nccl_transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "parallel/transport/nccl/nccl_world.h"
#include "runtime/error.h"
#include "runtime/on_device.h"
#include "tests/parallel/transport/nccl/fake_test.h"

namespace torus::parallel {
namespace {

constexpr Tag kTag{TagClass::kActivation, 3};

TEST(NcclTransport, AMessageComesBehindItsStreamAndBeforeTheStreamThatWaitsOnIt) {
  // They belong to the messages until the streams have come there: beyond the ranks' functions.
  std::vector<std::vector<char>> of_ranks{std::vector<char>(640, 'a'), std::vector<char>(640, 'b')};
  RunOverFake(2, kLong, [&](Transport& t, FakeNccl& fake) {
    std::vector<char>& data = of_ranks[t.rank()];
    if (t.rank() == 0) {
      t.Send(1, kTag, {data.data(), 640, {}, StreamOf(7)}, "x").WaitOn(StreamOf(8));
    } else {
      t.Recv(0, kTag, {data.data(), 640, {}, StreamOf(9)}, "x").WaitOn(StreamOf(10));
    }
    char token = 0;  // both have come here
    Pending sent = t.Send(1 - t.rank(), {TagClass::kControl, 1}, {&token, 1}, "token");
    t.Recv(1 - t.rank(), {TagClass::kControl, 1}, {&token, 1}, "token").Wait();
    sent.Wait();
    const std::vector<std::string> calls = fake.calls();
    EXPECT_EQ(Starting(calls, "send"), std::vector<std::string>{"send 640 bytes behind stream 7"});
    EXPECT_EQ(Starting(calls, "receive"),
              std::vector<std::string>{"receive 640 bytes behind stream 9"});
    EXPECT_EQ(Starting(calls, "stream 8"), std::vector<std::string>{"stream 8 behind a send"});
    EXPECT_EQ(Starting(calls, "stream 10"), std::vector<std::string>{"stream 10 behind a receive"});
  });
  EXPECT_EQ(of_ranks[1], of_ranks[0]);
}

// The sender's thread goes on before anybody receives, and its bytes count once they have arrived.
TEST(NcclTransport, ASendHoldsUpNoThread) {
  RunOverFake(2, kLong, [](Transport& t, FakeNccl&) {
    constexpr int kMessages = 20;
    std::vector<int> values(kMessages);
    std::iota(values.begin(), values.end(), 0);
    char token = 0;
    if (t.rank() == 0) {
      std::vector<Pending> sent;
      for (int& value : values) sent.push_back(t.Send(1, kTag, {&value, sizeof value}, "value"));
      EXPECT_EQ(t.BytesSent(1, TagClass::kActivation), 0u);
      t.Send(1, {TagClass::kControl, 1}, {&token, 1}, "token").Wait();
      for (Pending& each : sent) each.WaitOn(StreamOf(1));
      t.Recv(1, {TagClass::kControl, 1}, {&token, 1}, "token").Wait();
      EXPECT_EQ(t.BytesSent(1, TagClass::kActivation), kMessages * sizeof(int));
    } else {
      t.Recv(0, {TagClass::kControl, 1}, {&token, 1}, "token").Wait();
      for (const int value : values) {
        int got = -1;
        t.Recv(0, kTag, {&got, sizeof got}, "value").Wait();
        EXPECT_EQ(got, value);
      }
      t.Send(0, {TagClass::kControl, 1}, {&token, 1}, "token").Wait();
    }
  });
}

// Messages that were sent earlier are held until they are asked for; nobody else's memory changes.
TEST(NcclTransport, ReceivesInAnotherOrderThanSent) {
  RunOverFake(2, kLong, [](Transport& t, FakeNccl& fake) {
    constexpr int kMessages = 5;
    if (t.rank() == 0) {
      std::vector<std::vector<int>> values;
      std::vector<Pending> pending;
      for (int i = 0; i < kMessages; ++i) {
        values.emplace_back(i + 1, i);
        pending.push_back(t.Send(1, {TagClass::kUser, i / 2},
                                 {values[i].data(), values[i].size() * sizeof(int)}, "value"));
      }
      for (Pending& each : pending) each.Wait();
      return;
    }
    for (const int i : {4, 0, 2, 1, 3}) {
      std::vector<int> got(i + 1, -1);
      t.Recv(0, {TagClass::kUser, i / 2}, {got.data(), got.size() * sizeof(int)}, "value").Wait();
      EXPECT_EQ(got, std::vector<int>(i + 1, i));
    }
    EXPECT_EQ(Starting(fake.calls(), "copy").size(), 4u);
  });
}

TEST(NcclTransport, MovesOnlyTheMemoryOfItsDevice) {
  FakeNccl fake;
  InProcessWorld world(2, {.timeout = kLong});
  RunRanks(world, [&](Transport& inner) {
    NcclTransport t(inner, fake, {.device = {DeviceKind::kCuda, 0}});
    int value = t.rank();
    Pending sent = t.Send(1 - t.rank(), kTag, {&value, sizeof value}, "value");
    int other = -1;
    t.Recv(1 - t.rank(), kTag, {&other, sizeof other}, "value").Wait();
    sent.Wait();
    EXPECT_EQ(other, 1 - t.rank());
    EXPECT_EQ(t.BytesSent(1 - t.rank(), TagClass::kActivation), sizeof value);
  });
  EXPECT_TRUE(fake.calls().empty());
}

// Sends cross in all directions, before sums and behind them, and a GPU runs one kernel at a time.
TEST(NcclTransport, AllRanksLaunchInOneOrder) {
  constexpr int kRanks = 4, kRounds = 10;
  RunOverFake(kRanks, kLong, [](Transport& t, FakeNccl&) {
    std::vector<int> mine(kRanks, t.rank()), theirs(kRanks, -1);
    float sum = 0;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<Pending> pending;
      for (int k = 1; k < kRanks; ++k) {
        const int to = (t.rank() + k) % kRanks, from = (t.rank() + k * 3) % kRanks;
        pending.push_back(t.Send(to, kTag, {&mine[to], 4}, "sent"));
        if (k == 1 + t.rank() % 3) {
          sum = 1;
          pending.push_back(t.EngineOf({0, 1, 2, 3})->AllReduce({&sum, 4}, DType::kF32, "sum"));
        }
        pending.push_back(t.Recv(from, kTag, {&theirs[from], 4}, "received"));
      }
      for (Pending& each : pending) each.WaitOn(StreamOf(1));
      const char token = 1;
      char got = 0;
      for (int peer = 0; peer < kRanks; ++peer)
        if (peer != t.rank())
          pending.push_back(t.Send(peer, {TagClass::kControl, 1}, {&token, 1}, "token"));
      for (int peer = 0; peer < kRanks; ++peer)
        if (peer != t.rank()) t.Recv(peer, {TagClass::kControl, 1}, {&got, 1}, "token").Wait();
      for (Pending& each : pending) each.Wait();
    }
  });
}

// A pipeline of four, each with a partner that it sums with: one communicator for each neighbour,
// and one for the group.
TEST(NcclTransport, HasACommunicatorForEachNeighbourAndGroup) {
  constexpr int kRanks = 8;
  Topology topology;
  for (int rank = 0; rank + 2 < kRanks; ++rank) topology.pairs.emplace_back(rank + 2, rank);
  for (int rank = 0; rank < kRanks; rank += 2) topology.groups.push_back({rank, rank + 1});
  std::mutex mutex;
  std::vector<int> counts;
  const auto count = [&](Transport& t, FakeNccl& fake) {
    t.Connect(topology);  // what there is already is not made again
    const std::lock_guard lock(mutex);
    counts = fake.communicators();  // all, at the last rank
  };
  RunOverFake(kRanks, kLong, count, topology);
  EXPECT_EQ(counts, (std::vector<int>{2, 2, 2, 2, 3, 3, 3, 3}));
}

TEST(NcclTransport, RefusesMessagesBetweenRanksThatAreNotConnected) {
  const auto sends = [](Transport& t, FakeNccl&) {
    int value = 0;
    EXPECT_THROW((void)t.Send(2 - t.rank(), kTag, {&value, 4}, "value"), BadInput);
  };
  RunOverFake(3, kLong,
              [&](Transport& t, FakeNccl& fake) {
                if (t.rank() != 1) sends(t, fake);
              },
              {{{0, 1}, {1, 2}}, {}});
}

// One that was held, since a later one was waited for, is asked for with another size.
TEST(NcclTransport, SaysThatTheSizesOfAHeldMessageDiffer) {
  try {
    RunOverFake(2, kLong, [](Transport& t, FakeNccl&) {
      int values[2] = {1, 2};
      if (t.rank() == 0) {
        Pending early = t.Send(1, {TagClass::kUser, 1}, {&values[0], 4}, "early");
        t.Send(1, {TagClass::kUser, 2}, {&values[1], 4}, "late").Wait();
        early.Wait();
      } else {
        t.Recv(0, {TagClass::kUser, 2}, {&values[0], 4}, "late").Wait();
        EXPECT_EQ(values[0], 2);
        t.Recv(0, {TagClass::kUser, 1}, {&values, 8}, "both").Wait();
      }
    });
    FAIL();
  } catch (const BadInput& error) {
    ExpectHolds(error.what(), {"rank 0 sends 4 bytes (early), rank 1 receives 8 (both)"});
  }
}

// Whole numbers below 2^24, whose sums are exact in every order.
template <class T>
void ExpectSum(Transport& t, const std::vector<int>& members, DType dtype, int64_t count) {
  std::vector<T> data(count);
  for (int64_t i = 0; i < count; ++i) data[i] = static_cast<T>(i % 1000 + t.rank());
  t.EngineOf(members)->AllReduce({data.data(), data.size() * sizeof(T)}, dtype, "the sum").Wait();
  T of_ranks = 0;
  for (const int member : members) of_ranks += static_cast<T>(member);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_EQ(data[i], static_cast<T>(members.size()) * static_cast<T>(i % 1000) + of_ranks) << i;
}

TEST(NcclEngine, SumsAllTypesAmongAnyMembers) {
  const auto sums = [](Transport& t, FakeNccl&) {
    const std::vector<int> half = t.rank() % 2 == 0 ? std::vector{4, 0, 2} : std::vector{1, 3};
    for (const int64_t count : {0, 1, 7, 100'003}) {
      ExpectSum<float>(t, {0, 1, 2, 3, 4}, DType::kF32, count);
      ExpectSum<double>(t, half, DType::kF64, count);
      ExpectSum<int32_t>(t, half, DType::kI32, count);
      ExpectSum<int64_t>(t, {0, 1, 2, 3, 4}, DType::kI64, count);
    }
  };
  RunOverFake(5, kLong, sums, {{}, {{0, 1, 2, 3, 4}, {4, 0, 2}, {1, 3}}});
}

TEST(NcclEngine, ASumThatIsRefusedIsForgotten) {
  RunOverFake(3, kShort, [](Transport& t, FakeNccl&) {
    char byte = 1;
    for (int i = 0; i < 2; ++i) {
      EXPECT_THROW((void)t.EngineOf({0, 1, 2})->AllReduce({&byte, 1}, DType::kU8, "no sum"),
                   BadInput);
      ExpectSum<float>(t, {0, 1, 2}, DType::kF32, 7);
    }
  });
}

TEST(NcclEngine, AStreamMayWaitForTheSum) {
  std::vector<float> of_ranks(2, 1);  // as above
  RunOverFake(2, kLong, [&](Transport& t, FakeNccl& fake) {
    float& value = of_ranks[t.rank()];
    t.EngineOf({0, 1})
        ->AllReduce({&value, 4, {}, StreamOf(3)}, DType::kF32, "the sum")
        .WaitOn(StreamOf(4));
    char token = 0;
    Pending sent = t.Send(1 - t.rank(), {TagClass::kControl, 1}, {&token, 1}, "token");
    t.Recv(1 - t.rank(), {TagClass::kControl, 1}, {&token, 1}, "token").Wait();
    sent.Wait();
    EXPECT_EQ(Starting(fake.calls(), "sum"),
              std::vector<std::string>(2, "sum 4 bytes behind stream 3"));
    EXPECT_EQ(Starting(fake.calls(), "stream 4"),
              std::vector<std::string>(2, "stream 4 behind a sum"));
  });
  EXPECT_EQ(of_ranks, std::vector<float>(2, 2));
}

TEST(NcclWorld, KeepsTheTransportsOfItsRanks) {
  FakeNccl fake;
  ThreadWorld threads(3);
  NcclWorld world(threads, fake, kLong, HostOfRank);
  EXPECT_EQ(world.size(), 3);
  EXPECT_EQ(world.local(), (std::vector<int>{0, 1, 2}));
  std::vector<Transport*> first(3), second(3);
  world.Run([&](Transport& t) {
    first[t.rank()] = &t;
    t.Connect(AllConnected(3));
  });
  world.Run([&](Transport& t) {
    second[t.rank()] = &t;
    ExpectSum<float>(t, {0, 1, 2}, DType::kF32, 10);
  });
  EXPECT_EQ(first, second);
}

TEST(NcclWorld, WantsAGpuForEachRank) {
  if (kHasCuda) GTEST_SKIP() << "of builds without CUDA";
  FakeNccl fake;
  ThreadWorld threads(2);
  NcclWorld world(threads, fake);
  try {
    world.Run([](Transport&) {});
    FAIL();
  } catch (const BadInput& error) {
    ExpectHolds(error.what(), {"of its host's 2 ranks and needs a GPU of its own: 0 can be used"});
  }
}

}  // namespace
}  // namespace torus::parallel
