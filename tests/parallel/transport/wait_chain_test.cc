#include "parallel/transport/wait_chain.h"

#include <gtest/gtest.h>

namespace torus::parallel {
namespace {

TEST(WaitChain, LifePropagatesAlongAChain) {
  WaitChain chain(4);
  chain.Begin(0, 1, "a");
  chain.Begin(1, 2, "b");
  const std::vector<uint64_t> before = chain.Look();
  EXPECT_FALSE(chain.Moved(0, before));
  ++chain.progress(3).ticks;
  EXPECT_FALSE(chain.Moved(0, before));  // nobody waits for rank 3
  ++chain.progress(2).ticks;
  EXPECT_TRUE(chain.Moved(0, before));
  EXPECT_TRUE(chain.Moved(1, before));
  EXPECT_EQ(chain.Describe(0), "rank 1 waits for rank 2 (b); rank 2 shows no progress");
}

TEST(WaitChain, ARingHasNoLife) {
  WaitChain chain(4);
  chain.Begin(0, 1, "a");
  chain.Begin(1, 2, "b");
  chain.Begin(2, 1, "c");
  const std::vector<uint64_t> before = chain.Look();
  ++chain.progress(0).ticks;  // the one who asks
  EXPECT_FALSE(chain.Moved(0, before));
  EXPECT_EQ(chain.Describe(0),
            "rank 1 waits for rank 2 (b); rank 2 waits for rank 1 (c); they wait for each other");
  chain.End(2);
  ++chain.progress(2).ticks;
  EXPECT_TRUE(chain.Moved(0, before));
}

TEST(WaitChain, SaysWhereTheLastOneRuns) {
  WaitChain chain(2);
  chain.SetPlace(1, "host a");
  chain.Begin(0, 1, "a");
  EXPECT_EQ(chain.Describe(0), "rank 1 shows no progress (host a)");
}

TEST(ChainDeadline, IsRenewedByProgressAlone) {
  using std::chrono::seconds;
  WaitChain chain(3);
  chain.Begin(0, 1, "a");
  const ChainDeadline::Clock::time_point begin{};
  ChainDeadline deadline(chain, 0, 4, begin);  // looks every second
  for (int second = 1; second < 8; ++second) {
    if (second == 4) ++chain.progress(1).ticks;  // until 8
    if (second == 6) ++chain.progress(2).ticks;  // for whom nobody waits
    EXPECT_FALSE(deadline.Passed(begin + seconds(second))) << second;
  }
  EXPECT_TRUE(deadline.Passed(begin + seconds(8)));
}

// As after a debugger's stop, or on a machine that was suspended.
TEST(ChainDeadline, DoesNotCountTheTimeInWhichItsOwnProcessWasStopped) {
  using std::chrono::seconds;
  WaitChain chain(2);
  chain.Begin(0, 1, "a");
  const ChainDeadline::Clock::time_point begin{};
  ChainDeadline deadline(chain, 0, 4, begin);  // looks every second
  EXPECT_FALSE(deadline.Passed(begin + seconds(1)));
  EXPECT_FALSE(
      deadline.Passed(begin + seconds(33)));  // 30 s later than the second look and one more
  EXPECT_FALSE(deadline.Passed(begin + seconds(33)));
  EXPECT_TRUE(deadline.Passed(begin + seconds(34)));
}

}  // namespace
}  // namespace torus::parallel
