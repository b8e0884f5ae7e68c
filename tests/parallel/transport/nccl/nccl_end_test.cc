// How a run over NCCL ends when something does not come; over a fake of NCCL.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "parallel/transport/nccl/nccl_transport.h"
#include "runtime/error.h"
#include "tests/parallel/transport/nccl/fake_test.h"

namespace torus::parallel {
namespace {

constexpr Tag kTag{TagClass::kActivation, 3};

TEST(NcclTransport, NamesAMessageThatDoesNotEnd) {
  const std::string message = ErrorOf(2, [](Transport& t, FakeNccl& fake) {
    fake.Stall();
    int value = 0;
    if (t.rank() == 0) t.Send(1, kTag, {&value, 4}, "the thing").WaitOn(StreamOf(1));
    if (t.rank() == 1) t.Recv(0, kTag, {&value, 4}, "the thing").Wait();
  });
  // Rank 1 at its wait, or rank 0 at the end of its run.
  ExpectHolds(message, {"gave up after ", " 4 bytes", "activation/3", "the thing"});
}

TEST(NcclTransport, SaysWhyNcclHasFailed) {
  const std::string message = ErrorOf(2, [](Transport& t, FakeNccl& fake) {
    int value = 0;
    Pending pending = t.rank() == 0 ? t.Send(1, kTag, {&value, 4}, "value")
                                    : t.Recv(0, kTag, {&value, 4}, "value");
    if (t.rank() == 1) fake.Stall();
    fake.Fail();
    pending.Wait();
    t.Recv(1 - t.rank(), kTag, {&value, 4}, "value").Wait();
  });
  ExpectHolds(message, {"[nccl] the network has failed; rank ", " was waiting for rank ",
                        " 4 bytes, tag activation/3 (value)"});
}

// It would abort a communicator over which NCCL still works for the other. Who has moved nothing
// waits for nobody.
TEST(NcclTransport, NoRankEndsBeforeThoseThatItHasSentTo) {
  FakeNccl fake;
  InProcessWorld world(3, {.timeout = kLong});
  std::atomic<int> at_their_end = 0;
  RunRanks(world, [&](Transport& inner) {
    NcclTransport t(inner, fake, {.device = {}, .timeout = kLong});
    t.Connect(AllConnected(3));
    int value = 0;
    if (t.rank() == 0) t.Send(1, kTag, {&value, 4}, "value").Wait();
    if (t.rank() == 1) {
      t.Recv(0, kTag, {&value, 4}, "value").Wait();
      t.Recv(2, {TagClass::kControl, 1}, {&value, 1}, "rank 2 has finished").Wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    at_their_end += t.rank() < 2;
    t.Finish();
    if (t.rank() == 0) {
      EXPECT_EQ(at_their_end, 2);
    }
    if (t.rank() == 2)
      t.Send(1, {TagClass::kControl, 1}, {&value, 1}, "rank 2 has finished").Wait();
  });
}

TEST(NcclEngine, NoMemberEndsBeforeTheOthers) {
  std::atomic<int> at_their_end = 0;
  FakeNccl fake;
  InProcessWorld world(3, {.timeout = kLong});
  RunRanks(world, [&](Transport& inner) {
    NcclTransport t(inner, fake, {.device = {}, .timeout = kLong});
    t.Connect(AllConnected(3));
    float value = 1;
    t.EngineOf({0, 1, 2})->AllReduce({&value, 4}, DType::kF32, "the sum").Wait();
    if (t.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++at_their_end;
    t.Finish();
    EXPECT_EQ(at_their_end, 3);
  });
}

// A rank fails while the other is blocked in a call of CUDA's, behind a stream that waits for what
// never comes: that ends too, and then says why.
TEST(NcclTransport, AnAbortedRunEndsTheWaitsOfStreams) {
  int of_ranks[2] = {};
  const std::string message = ErrorOf(2, [&](Transport& t, FakeNccl& fake) {
    int& value = of_ranks[t.rank()];
    fake.Stall();
    if (t.rank() == 0) {
      t.Send(1, kTag, {&value, 4}, "value").WaitOn(StreamOf(1));
      char token = 0;
      t.Recv(1, {TagClass::kControl, 1}, {&token, 1}, "token").Wait();
      throw BrokenEnvironment("the disk is full");
    }
    t.Recv(0, kTag, {&value, 4}, "value").WaitOn(StreamOf(2));
    const char token = 0;
    t.Send(0, {TagClass::kControl, 1}, {&token, 1}, "token").Wait();
    fake.Synchronize(StreamOf(2));
    t.ThrowIfAborted();
    ADD_FAILURE() << "nothing was aborted";
  });
  ExpectHolds(message, {"the disk is full"});
}

// All hosts are blocked in calls of CUDA's, and nothing ends any more: only the watchdogs can tell.
TEST(NcclTransport, WorkThatDoesNotEndEndsTheRunThoughAllHostsWaitForStreams) {
  int of_ranks[2] = {};
  const std::string message = ErrorOf(2, [&](Transport& t, FakeNccl& fake) {
    int& value = of_ranks[t.rank()];
    fake.Stall();
    Pending message = t.rank() == 0 ? t.Send(1, kTag, {&value, 4}, "the thing")
                                    : t.Recv(0, kTag, {&value, 4}, "the thing");
    message.WaitOn(StreamOf(t.rank() + 1));
    fake.Synchronize(StreamOf(t.rank() + 1));
    t.ThrowIfAborted();
    ADD_FAILURE() << "nothing was aborted";
  });
  ExpectHolds(message, {"gave up after ", "without a message or sum by NCCL that has ended",
                        " 4 bytes, tag activation/3 (the thing)"});
}

// Two kernels of each GPU's wait for ever when the run is aborted.
TEST(NcclTransport, AbortsAllCommunicatorsOfAGpuAtOnce) {
  FakeNccl fake(2);
  InProcessWorld world(3, {.timeout = kLong});
  int of_ranks[3][4] = {};
  EXPECT_THROW(RunRanks(world,
                        [&](Transport& inner) {
                          NcclTransport t(inner, fake, {.device = {}, .timeout = kLong});
                          t.Connect(AllConnected(3));
                          fake.Stall();
                          int* value = of_ranks[t.rank()];
                          std::vector<Pending> pending;
                          for (const int k : {1, 2}) {
                            const int to = (t.rank() + k) % 3, from = (t.rank() + 3 - k) % 3;
                            pending.push_back(t.Send(to, kTag, {value++, 4}, "sent"));
                            pending.push_back(t.Recv(from, kTag, {value++, 4}, "received"));
                          }
                          for (Pending& each : pending) each.WaitOn(StreamOf(t.rank() + 1));
                          if (t.rank() == 0) throw BrokenEnvironment("the disk is full");
                          fake.Synchronize(StreamOf(t.rank() + 1));
                          t.ThrowIfAborted();
                        }),
               BrokenEnvironment);
  EXPECT_EQ(fake.faults(), std::vector<std::string>());
}

// The same, where NCCL reports an error that no call has.
TEST(NcclTransport, AnAsynchronousErrorEndsTheWaitsOfStreams) {
  int of_ranks[2] = {};
  try {
    RunOverFake(2, kLong, [&](Transport& t, FakeNccl& fake) {
      int& value = of_ranks[t.rank()];
      fake.Stall();
      Pending message = t.rank() == 0 ? t.Send(1, kTag, {&value, 4}, "the thing")
                                      : t.Recv(0, kTag, {&value, 4}, "the thing");
      message.WaitOn(StreamOf(t.rank() + 1));
      fake.Fail();
      fake.Synchronize(StreamOf(t.rank() + 1));
      t.ThrowIfAborted();
      ADD_FAILURE() << "nothing was aborted";
    });
    FAIL();
  } catch (const BrokenEnvironment& error) {
    ExpectHolds(error.what(), {"[nccl] the network has failed; rank ", " was waiting for rank ",
                               " 4 bytes, tag activation/3 (the thing)"});
  }
}

// Work of an aborted communicator ends, but its bytes have not come.
TEST(NcclTransport, WhatWasAbortedHasNotArrived) {
  const std::string message = ErrorOf(2, [](Transport& t, FakeNccl& fake) {
    constexpr Tag kToken{TagClass::kControl, 1};
    int first = 0, second = 0;
    char token = 0;
    fake.Stall();
    if (t.rank() == 0) {
      Pending one = t.Send(1, kTag, {&first, 4}, "one");
      Pending two = t.Send(1, kTag, {&second, 4}, "two");
      t.Send(1, kToken, {&token, 1}, "sent").Wait();
      t.Recv(1, kToken, {&token, 1}, "both are under way").Wait();
      two = Pending();
      EXPECT_THROW(one.Wait(), BrokenEnvironment);
    } else {
      t.Recv(0, kToken, {&token, 1}, "sent").Wait();
      Pending one = t.Recv(0, kTag, {&first, 4}, "one");
      Pending two = t.Recv(0, kTag, {&second, 4}, "two");
      t.Send(0, kToken, {&token, 1}, "both are under way").Wait();
      while (true) t.ThrowIfAborted();
    }
  });
  ExpectHolds(message, {"rank 0 failed: a message of a GPU was dropped before its end"});
}

thread_local int rank_of_thread = 0;

// Rank 2 never joins.
class WithoutRank2 : public FakeNccl {
 public:
  std::vector<std::unique_ptr<NcclComm>> Join(const std::vector<NcclSeat>& seats, Device device,
                                              const Patience& patience) override {
    while (rank_of_thread == 2) patience(0);
    return FakeNccl::Join(seats, device, patience);
  }
};

TEST(NcclTransport, GivesUpOnARankThatDoesNotJoin) {
  WithoutRank2 fake;
  InProcessWorld world(3, {.timeout = kShort});
  try {
    RunRanks(world, [&](Transport& inner) {
      rank_of_thread = inner.rank();
      NcclTransport t(inner, fake, {.device = {}, .timeout = kShort});
      t.Connect({{{0, 2}, {0, 1}}, {}});
    });
    FAIL();
  } catch (const BrokenEnvironment& error) {
    ExpectHolds(error.what(), {"rank 0 gave up after ",
                               "waiting for ranks 1, 2 to join 2 communicators by NCCL"});
  }
}

TEST(NcclTransport, ADroppedMessageAbortsTheRun) {
  const std::string message = ErrorOf(2, [](Transport& t, FakeNccl&) {
    int value = 0;
    if (t.rank() == 0) {
      const Pending dropped = t.Send(1, kTag, {&value, 4}, "value");
    } else {
      while (true) t.ThrowIfAborted();
    }
  });
  ExpectHolds(message, {"rank 0 failed: a message of a GPU was dropped before its end"});
}

TEST(NcclEngine, NamesTheMemberThatDoesNotCome) {
  const std::string message = ErrorOf(4, [](Transport& t, FakeNccl&) {
    float value = 1;
    Engine* const engine = t.EngineOf({0, 1, 2, 3});
    while (t.rank() == 2) t.ThrowIfAborted();
    engine->AllReduce({&value, 4}, DType::kF32, "the sum").Wait();
  });
  ExpectHolds(message, {"gave up", "rank 2 shows no progress", "the sum"});
}

}  // namespace
}  // namespace torus::parallel
