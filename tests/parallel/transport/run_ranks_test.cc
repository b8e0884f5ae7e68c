#include "parallel/transport/run_ranks.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <thread>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

TEST(RunRanks, EachRankHasAThreadAndAProgressCounterOfItsOwn) {
  InProcessWorld world(4);
  std::atomic<int> ran = 0;
  RunRanks(world, [&](Transport& t) {
    for (int i = 0; i <= t.rank(); ++i) TickProgress();
    ++ran;
  });
  EXPECT_EQ(ran, 4);
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(world.progress(rank).ticks, rank + 1u);
}

TEST(RunRanks, ThrowsTheFirstErrorWithItsKind) {
  EXPECT_THROW(RunRanks(3,
                        [](Transport& t) {
                          if (t.rank() == 2) Throw<BadInput>("test", "wrong");
                          int value;
                          t.Recv(2, {}, {&value, 4}, "value").Wait();
                        }),
               BadInput);
  EXPECT_THROW(RunRanks(1, [](Transport&) { throw 5; }), int);
}

TEST(RunRanks, AThreadWorldRunsEveryRankOnTheSameTransportEachTime) {
  ThreadWorld world(3);
  EXPECT_EQ(world.size(), 3);
  EXPECT_EQ(world.local(), (std::vector<int>{0, 1, 2}));
  std::vector<Transport*> first(3), second(3);
  world.Run([&](Transport& t) { first[t.rank()] = &t; });
  world.Run([&](Transport& t) { second[t.rank()] = &t; });
  EXPECT_EQ(first, second);
  EXPECT_THROW(world.Run([](Transport& t) { Require(t.rank() != 1, "test", "wrong"); }), BadInput);
}

TEST(RunRanks, ARankThatStandsStillIsFoundThoughNobodyWaitsForIt) {
  InProcessWorld world(2, {.timeout = 0.1});
  try {
    RunRanks(world, [](Transport& t) {
      while (t.rank() == 1) {
        t.ThrowIfAborted();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
    FAIL();
  } catch (const BrokenEnvironment& e) {
    EXPECT_STREQ(e.what(), "[ranks] rank 1 shows no progress for 0.20 s");
  }
}

TEST(RunRanks, AWorldAbortedFromOutsideStopsTheRanks) {
  InProcessWorld world(2);
  std::thread outside([&] { world.Abort(-1, "interrupted"); });
  try {
    RunRanks(world, [](Transport& t) {
      int value;
      t.Recv(1 - t.rank(), {}, {&value, 4}, "value").Wait();
    });
    FAIL();
  } catch (const BrokenEnvironment& e) {
    EXPECT_NE(std::string(e.what()).find("because the run failed: interrupted"), std::string::npos);
  }
  outside.join();
}

// In a process of its own, whose address space has room for a few stacks more.
#ifndef TORUS_SANITIZER  // whose shadow memory needs all of it
void LimitAddressSpace(size_t more) {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + more;
  const rlimit limit{bytes, bytes};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

TEST(RunRanksDeathTest, AThreadThatCannotBeStartedIsAnErrorAndTheOthersEnd) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto run = [] {
    std::atomic<int> running = 0;
    InProcessWorld world(64);
    LimitAddressSpace(size_t{40} << 20);
    try {
      RunRanks(world, [&](Transport& t) {
        ++running;
        int value;
        try {
          t.Recv((t.rank() + 1) % 64, {}, {&value, 4}, "value").Wait();
        } catch (...) {
          --running;
          throw;
        }
      });
    } catch (const BrokenEnvironment& e) {
      std::fprintf(stderr, "%s; %d still run\n", e.what(), running.load());
      std::exit(3);
    }
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(3),
              "^\\[ranks\\] cannot start a thread for rank [1-9][0-9]* of 64: .*; 0 still run");
}
#endif

// What the thread uses is kept for it: the world and the function.
TEST(RunRanks, AThreadThatCannotBeStoppedIsLeftBehind) {
  const auto released = std::make_shared<std::promise<void>>();
  const auto ended = std::make_shared<std::promise<std::string>>();
  std::future<std::string> error_of_rank = ended->get_future();
  std::string error;
  {
    InProcessWorld world(2, {.timeout = 0.1});
    try {
      RunRanks(world,
               [wait = released->get_future().share(), ended](Transport& t) {
                 int value;
                 if (t.rank() == 1) {
                   SayActivity("forward", 17, 1, 2);
                   wait.wait();
                   try {
                     TickProgress();
                   } catch (const BrokenEnvironment& stopped) {
                     ended->set_value(stopped.what());
                     throw;
                   }
                 }
                 t.Recv(1, {}, {&value, 4}, "the answer").Wait();
               },
               {.grace = 0.2});
    } catch (const StuckRank& stuck) {
      error = stuck.what();
    }
  }
  EXPECT_TRUE(error.starts_with("[ranks] rank 1 did not stop within 0.2 s after: ")) << error;
  EXPECT_NE(error.find("the answer"), std::string::npos) << error;
  EXPECT_TRUE(error.ends_with("; rank 1 is in forward, stage 1, micro-batch 2, step 17")) << error;
  released->set_value();
  EXPECT_NE(error_of_rank.get().find("rank 0 gave up"), std::string::npos);
}

TEST(RunRanksDeathTest, AProgramMayEndInstead) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        OnStuckRank([](const std::string& message) {
          std::fprintf(stderr, "torus: %s\n", message.c_str());
          std::_Exit(1);
        });
        InProcessWorld world(2, {.timeout = 0.1});
        RunRanks(world,
                 [](Transport& t) {
                   int value;
                   while (t.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(1));
                   t.Recv(1, {}, {&value, 4}, "the answer").Wait();
                 },
                 {.grace = 0.2});
      },
      testing::ExitedWithCode(1),
      "torus: rank 1 did not stop within 0.2 s after: .*rank 0 gave up.*rank 1 to send 4 "
      "bytes.*the "
      "answer");
}

TEST(InProcessWorld, ATimeoutHasBounds) {
  for (const double timeout : {0.0, -1.0, 1e10, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(InProcessWorld(2, {.timeout = timeout}), BadInput) << timeout;
  InProcessWorld world(1, {.timeout = kLongestTimeout});
  RunRanks(world, [](Transport&) {});
}

}  // namespace
}  // namespace torus::parallel
