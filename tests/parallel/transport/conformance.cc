#include "tests/parallel/transport/conformance.h"

#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "parallel/transport/group.h"
#include "runtime/progress.h"

namespace torus::parallel {
namespace {

constexpr double kShort = 0.5;  // seconds: a timeout that a test waits for

std::vector<uint8_t> Pattern(size_t bytes, int seed) {
  std::vector<uint8_t> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(i * 31 + seed * 17);
  return data;
}

Tag User(int number) { return {TagClass::kUser, number}; }

TEST_P(Conformance, EveryRankToEveryRankInEverySize) {
  for (int n = 1; n <= 7; ++n) {
    Run(n, [n](Transport& t) {
      ASSERT_EQ(t.size(), n);
      for (const size_t bytes : {size_t{0}, size_t{1}, size_t{4099}, size_t{1} << 20}) {
        const std::vector<uint8_t> mine = Pattern(bytes, t.rank());
        std::vector<std::vector<uint8_t>> theirs(n, std::vector<uint8_t>(bytes));
        std::vector<Pending> pending;
        for (int peer = 0; peer < n; ++peer) {
          pending.push_back(t.Send(peer, User(1), {mine.data(), bytes}, "payload"));
          pending.push_back(t.Recv(peer, User(1), {theirs[peer].data(), bytes}, "payload"));
        }
        // Receives first: a rank that receives from itself while it waits for its own send would
        // never come to it.
        for (size_t i = 1; i < pending.size(); i += 2) pending[i].Wait();
        for (size_t i = 0; i < pending.size(); i += 2) pending[i].Wait();
        for (int peer = 0; peer < n; ++peer) EXPECT_EQ(theirs[peer], Pattern(bytes, peer));
      }
    });
  }
}

TEST_P(Conformance, TagsMayBeReceivedInAnyOrder) {
  Run(2, [](Transport& t) {
    std::vector<int> values{10, 11, 12, 13};
    std::vector<Pending> pending;
    for (int i = 0; i < 4; ++i) {
      if (t.rank() == 0) {
        pending.push_back(t.Send(1, User(i), {&values[i], sizeof(int)}, "value"));
      } else {
        int got = 0;
        t.Recv(0, User(3 - i), {&got, sizeof(int)}, "value").Wait();
        EXPECT_EQ(got, 13 - i);
      }
    }
    for (Pending& p : pending) p.Wait();
  });
}

TEST_P(Conformance, TheClassIsPartOfTheTag) {
  Run(2, [](Transport& t) {
    int activation = 1, gradient = 2;
    if (t.rank() == 0) {
      Pending a = t.Send(1, {TagClass::kActivation, 5}, {&activation, sizeof(int)}, "a");
      Pending g = t.Send(1, {TagClass::kGradient, 5}, {&gradient, sizeof(int)}, "g");
      a.Wait();
      g.Wait();
    } else {
      int a = 0, g = 0;
      t.Recv(0, {TagClass::kGradient, 5}, {&g, sizeof(int)}, "g").Wait();
      t.Recv(0, {TagClass::kActivation, 5}, {&a, sizeof(int)}, "a").Wait();
      EXPECT_EQ(a, 1);
      EXPECT_EQ(g, 2);
    }
  });
}

TEST_P(Conformance, OneTagKeepsItsOrderAlsoWhenWaitedForBackwards) {
  Run(2, [](Transport& t) {
    std::vector<int> values(8);
    std::iota(values.begin(), values.end(), 0);
    std::vector<int> got(8, -1);
    std::vector<Pending> pending;
    for (int i = 0; i < 8; ++i) {
      pending.push_back(t.rank() == 0 ? t.Send(1, User(0), {&values[i], sizeof(int)}, "value")
                                      : t.Recv(0, User(0), {&got[i], sizeof(int)}, "value"));
    }
    for (size_t i = pending.size(); i-- > 0;) pending[i].Wait();
    if (t.rank() == 1) {
      EXPECT_EQ(got, values);
    }
  });
}

TEST_P(Conformance, ManyMessagesAroundARing) {
  Run(5, [](Transport& t) {
    const int right = (t.rank() + 1) % 5, left = (t.rank() + 4) % 5;
    int64_t token = t.rank();
    for (int i = 0; i < 500; ++i) {
      int64_t next = -1;
      Pending sent = t.Send(right, User(i % 7), {&token, sizeof token}, "token");
      t.Recv(left, User(i % 7), {&next, sizeof next}, "token").Wait();
      sent.Wait();
      token = next;
    }
    EXPECT_EQ(token, t.rank());  // 500 is a multiple of 5
  });
}

TEST_P(Conformance, CountsBytesByLinkAndClass) {
  Run(3, [](Transport& t) {
    std::vector<uint8_t> data(100);
    if (t.rank() == 0) {
      t.Send(1, {TagClass::kActivation, 0}, {data.data(), 100}, "a").Wait();
      t.Send(1, {TagClass::kActivation, 1}, {data.data(), 7}, "a").Wait();
      t.Send(1, {TagClass::kGradient, 0}, {data.data(), 11}, "g").Wait();
      EXPECT_EQ(t.BytesSent(1, TagClass::kActivation), 107u);
      EXPECT_EQ(t.BytesSent(1, TagClass::kGradient), 11u);
      EXPECT_EQ(t.BytesSent(2, TagClass::kActivation), 0u);
    } else if (t.rank() == 1) {
      t.Recv(0, {TagClass::kActivation, 0}, {data.data(), 100}, "a").Wait();
      t.Recv(0, {TagClass::kActivation, 1}, {data.data(), 7}, "a").Wait();
      t.Recv(0, {TagClass::kGradient, 0}, {data.data(), 11}, "g").Wait();
      EXPECT_EQ(t.BytesSent(0, TagClass::kActivation), 0u);
    }
  });
}

TEST_P(Conformance, SizesThatDifferAreAnErrorThatNamesBoth) {
  try {
    Run(2, [](Transport& t) {
      int64_t value = 0;
      if (t.rank() == 0) t.Send(1, User(4), {&value, 8}, "eight").Wait();
      if (t.rank() == 1) t.Recv(0, User(4), {&value, 4}, "four").Wait();
    });
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(
        e.what(),
        "[transport] sizes differ: rank 0 sends 8 bytes (eight), rank 1 receives 4 (four), "
        "tag user/4");
  }
}

TEST_P(Conformance, APeerOutOfRangeIsAnError) {
  Run(2, [](Transport& t) {
    EXPECT_THROW((void)t.Send(2, User(0), {}, "x"), BadInput);
    EXPECT_THROW((void)t.Recv(-1, User(0), {}, "x"), BadInput);
  });
}

void ExpectHolds(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  }
}

TEST_P(Conformance, AReceiveThatNobodySendsTimesOut) {
  const std::string message = FirstError(
      2,
      [](Transport& t) {
        std::vector<uint8_t> data(640);
        if (t.rank() == 1)
          t.Recv(0, {TagClass::kActivation, 2}, {data.data(), 640}, "the thing").Wait();
      },
      kShort);
  ExpectHolds(message, {"rank 1 gave up after ", "rank 0 to send 640 bytes", "activation/2",
                        "the thing", "0.50 s", "rank 0 shows no progress"});
}

TEST_P(Conformance, ASendThatNobodyTakesTimesOut) {
  const std::string message = FirstError(
      2,
      [](Transport& t) {
        int value = 0;
        if (t.rank() == 0) t.Send(1, User(9), {&value, 4}, "the thing").Wait();
      },
      kShort);
  ExpectHolds(message, {"rank 0 gave up", "rank 1 to receive 4 bytes", "user/9", "the thing"});
}

TEST_P(Conformance, RanksThatWaitForEachOtherTimeOut) {
  const std::string message = FirstError(
      3,
      [](Transport& t) {
        int value = 0;
        t.Recv((t.rank() + 1) % 3, User(0), {&value, 4}, "token").Wait();
      },
      kShort);
  ExpectHolds(message, {"gave up", "wait for each other"});
}

// The last rank works for two and a half deadlines, and says so; the others wait in a chain for it.
TEST_P(Conformance, ASlowRankKeepsAChainOfWaitersAlive) {
  Run(
      4,
      [](Transport& t) {
        int value = 42;
        if (t.rank() == 3) {
          for (int i = 0; i < 25; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            TickProgress();
          }
        } else {
          value = 0;
          t.Recv(t.rank() + 1, User(0), {&value, sizeof value}, "value").Wait();
        }
        if (t.rank() > 0) t.Send(t.rank() - 1, User(0), {&value, sizeof value}, "value").Wait();
        EXPECT_EQ(value, 42);
      },
      kShort);
}

TEST_P(Conformance, AStoppedRankIsNamedAtTheEndOfTheChain) {
  const std::string message = FirstError(
      3,
      [](Transport& t) {
        int value = 0;
        while (t.rank() == 2) {  // neither ticks nor ends before the others have
          t.ThrowIfAborted();
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        t.Recv(t.rank() + 1, User(0), {&value, 4}, "value").Wait();
      },
      kShort);
  ExpectHolds(message, {"gave up", "rank 2 shows no progress"});
}

// As ranks that are blocked in calls of CUDA's: no wait of theirs has a deadline.
TEST_P(Conformance, RanksThatHangWithoutAWaitEndTheRun) {
  const std::string message = FirstError(
      2,
      [](Transport& t) {
        while (true) {
          t.ThrowIfAborted();
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
      },
      kShort);
  ExpectHolds(message, {"[ranks] rank 0, 1 shows no progress for 1.00 s"});
}

TEST_P(Conformance, AbortWakesEveryWaiterAndNamesTheFirstFailure) {
  const std::string message = FirstError(5, [&](Transport& t) {
    int value = 0;
    if (t.rank() == 3) Throw<BrokenEnvironment>("test", "the disk is full");
    try {
      t.Recv(3, User(0), {&value, 4}, "value").Wait();
      ADD_FAILURE() << "rank " << t.rank() << " did not stop";
    } catch (const BrokenEnvironment& e) {
      ExpectHolds(e.what(), {"rank " + std::to_string(t.rank()) + " stops waiting for rank 3",
                             "because rank 3 failed: [test] the disk is full", "value"});
      throw;
    }
  });
  EXPECT_EQ(message, "[test] the disk is full");
}

TEST_P(Conformance, AfterAnAbortNothingIsWaitedForAnyMore) {
  Run(1, [](Transport& t) { t.ThrowIfAborted(); });
  EXPECT_THROW(Run(2,
                   [](Transport& t) {
                     int value = 0;
                     if (t.rank() == 0) t.Abort("enough");
                     while (true) {
                       t.ThrowIfAborted();
                       t.Recv(1 - t.rank(), User(0), {&value, 4}, "value").Wait();
                     }
                   }),
               BrokenEnvironment);
}

TEST_P(Conformance, ADroppedSendIsWithdrawn) {
  if (!GetParam().withdraws) GTEST_SKIP() << "dropping it aborts the run";
  const std::string message = FirstError(
      2,
      [](Transport& t) {
        int value = 5;
        if (t.rank() == 0) {
          { const Pending dropped = t.Send(1, User(0), {&value, 4}, "value"); }
          t.Send(1, User(1), {&value, 4}, "next").Wait();
        } else {
          t.Recv(0, User(1), {&value, 4}, "next").Wait();
          t.Recv(0, User(0), {&value, 4}, "value").Wait();
        }
      },
      kShort);
  ExpectHolds(message, {"rank 1 gave up"});
}

// Whether its send has begun or not; what comes after it is not disturbed.
TEST_P(Conformance, ADroppedReceiveIsWithdrawn) {
  if (!GetParam().withdraws) GTEST_SKIP() << "dropping it aborts the run";
  for (const size_t bytes : {size_t{4}, size_t{1} << 22}) {
    const std::string message = FirstError(
        2,
        [bytes](Transport& t) {
          std::vector<uint8_t> data = Pattern(bytes, 1), other(bytes);
          if (t.rank() == 1) {
            { const Pending dropped = t.Recv(0, User(0), {other.data(), bytes}, "dropped"); }
            t.Recv(0, User(1), {other.data(), bytes}, "next").Wait();
            EXPECT_EQ(other, data);
            Throw<BrokenEnvironment>("test", "end");
          }
          const Pending unmet = t.Send(1, User(0), {data.data(), bytes}, "dropped");
          t.Send(1, User(1), {data.data(), bytes}, "next").Wait();
        },
        10);
    ExpectHolds(message, {"[test] end"});
  }
}

// An exception drops messages one after the other, and others must not meet those that are left.
TEST_P(Conformance, WhatFollowsADroppedSendIsNotTakenForIt) {
  if (!GetParam().withdraws) GTEST_SKIP() << "dropping it aborts the run";
  const std::string message = FirstError(
      2,
      [](Transport& t) {
        int64_t value = 5;
        if (t.rank() == 0) {
          auto dropped = std::make_optional(t.Send(1, User(0), {&value, 4}, "first"));
          Pending second = t.Send(1, User(0), {&value, 8}, "second");
          dropped.reset();
          t.Send(1, User(1), {&value, 4}, "next").Wait();
          second.Wait();
        } else {
          t.Recv(0, User(1), {&value, 4}, "next").Wait();
          t.Recv(0, User(0), {&value, 4}, "first").Wait();
        }
      },
      kShort);
  ExpectHolds(message, {"gave up"});
}

TEST_P(Conformance, WhatFollowsADroppedReceiveArrives) {
  if (!GetParam().withdraws) GTEST_SKIP() << "dropping it aborts the run";
  Run(2, [](Transport& t) {
    int32_t first = 4, ready = 0;
    int64_t second = 0;
    if (t.rank() == 1) {
      auto dropped = std::make_optional(t.Recv(0, User(0), {&first, 4}, "first"));
      Pending kept = t.Recv(0, User(0), {&second, 8}, "second");
      dropped.reset();
      t.Send(0, User(1), {&ready, 4}, "ready").Wait();
      kept.Wait();
      EXPECT_EQ(second, 7);
    } else {
      t.Recv(1, User(1), {&ready, 4}, "ready").Wait();
      const Pending unmet = t.Send(1, User(0), {&first, 4}, "first");
      second = 7;
      t.Send(1, User(0), {&second, 8}, "second").Wait();
    }
  });
}

TEST_P(Conformance, KnowsTheRanksOfItsHost) {
  Run(5, [](Transport& t) {
    EXPECT_EQ(t.SameHost(), (std::vector<int>{0, 1, 2, 3, 4}));
    if (t.rank() % 2 == 0) {
      EXPECT_EQ(Group(t, {4, 0, 2}).SameHost(), (std::vector<int>{0, 1, 2}));
    }
  });
}

TEST_P(Conformance, AGroupSeesItsMembersAsARangeFromZero) {
  Run(5, [](Transport& t) {
    if (t.rank() % 2 != 0) {
      EXPECT_THROW(Group(t, {0, 2}), BadInput);
      return;
    }
    Group group(t, {4, 0, 2});
    EXPECT_EQ(group.size(), 3);
    EXPECT_EQ(group.rank(), t.rank() == 4 ? 0 : t.rank() == 0 ? 1 : 2);
    int mine = t.rank(), theirs = -1;
    Pending sent = group.Send((group.rank() + 1) % 3, User(0), {&mine, sizeof mine}, "value");
    group.Recv((group.rank() + 2) % 3, User(0), {&theirs, sizeof theirs}, "value").Wait();
    sent.Wait();
    EXPECT_EQ(theirs, t.rank() == 4 ? 2 : t.rank() == 0 ? 4 : 0);
    EXPECT_EQ(group.BytesSent((group.rank() + 1) % 3, TagClass::kUser), sizeof mine);
    EXPECT_THROW(Group(t, {0, 0}), BadInput);
    EXPECT_THROW(Group(t, {0, 5}), BadInput);
    EXPECT_THROW((void)group.Send(3, User(0), {}, "value"), BadInput);
  });
}

}  // namespace
}  // namespace torus::parallel
