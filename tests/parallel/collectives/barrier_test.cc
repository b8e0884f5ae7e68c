#include "parallel/collectives/barrier.h"

#include <gtest/gtest.h>

#include <atomic>

#include "parallel/transport/run_ranks.h"

namespace torus::parallel {
namespace {

TEST(Barrier, NobodyPassesBeforeAllHaveCome) {
  for (int n = 1; n <= 9; ++n) {
    std::atomic<int> come = 0;
    RunRanks(n, [&](Transport& t) {
      for (int round = 1; round <= 20; ++round) {
        ++come;
        Barrier(t, "test");
        EXPECT_GE(come.load(), n * round);
        Barrier(t, "test");  // nobody may start the next round before all have looked
      }
    });
  }
}

}  // namespace
}  // namespace torus::parallel
