#include "parallel/collectives/broadcast.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

TEST(Broadcast, EveryRootReachesAllWithTheFewestBytes) {
  for (int n = 1; n <= 9; ++n) {
    for (int root = 0; root < n; ++root) {
      InProcessWorld world(n);
      RunRanks(world, [&](Transport& t) {
        std::vector<std::byte> data(11, std::byte(t.rank()));
        Broadcast(t, data, root, "test");
        EXPECT_EQ(data, std::vector<std::byte>(11, std::byte(root)));
      });
      uint64_t total = 0;
      for (int from = 0; from < n; ++from) {
        for (int to = 0; to < n; ++to) total += world.BytesSent(from, to, TagClass::kCollective);
      }
      EXPECT_EQ(total, 11u * (n - 1));
    }
  }
}

TEST(Broadcast, EmptyPayloadAndBadRoot) {
  RunRanks(3, [](Transport& t) {
    Broadcast(t, {}, 2, "test");
    EXPECT_THROW(Broadcast(t, {}, 3, "test"), BadInput);
  });
}

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
