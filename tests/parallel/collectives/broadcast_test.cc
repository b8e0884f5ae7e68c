#include "parallel/collectives/broadcast.h"

#include <gtest/gtest.h>

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

TEST(Broadcast, LongOnesGoInPieces) {
  RunRanks(7, [](Transport& t) {
    std::vector<std::byte> data(1'000'003), wanted(data.size());
    for (size_t i = 0; i < data.size(); ++i) wanted[i] = std::byte(i % 253);
    if (t.rank() == 4) data = wanted;
    Broadcast(t, data, 4, "test");
    EXPECT_TRUE(data == wanted);
  });
}

TEST(Broadcast, EmptyPayloadAndBadRoot) {
  RunRanks(3, [](Transport& t) {
    Broadcast(t, {}, 2, "test");
    EXPECT_THROW(Broadcast(t, {}, 3, "test"), BadInput);
  });
}

}  // namespace
}  // namespace torus::parallel
