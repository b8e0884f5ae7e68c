#include "parallel/collectives/all_to_all.h"

#include <gtest/gtest.h>

#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "tests/parallel/collectives/terms.h"

namespace torus::parallel {
namespace {

std::byte Value(int from, int to, size_t i) { return std::byte((from * 31 + to * 7 + i) % 251); }

TEST(AllToAll, EveryBlockReachesItsRank) {
  for (int n = 1; n <= 8; ++n)
    for (const size_t block : {size_t{0}, size_t{1}, size_t{300'007}}) {
      InProcessWorld world(n);
      RunRanks(world, [&](Transport& t) {
        std::vector<std::byte> send(n * block), receive(n * block), wanted(n * block);
        for (int peer = 0; peer < n; ++peer)
          for (size_t i = 0; i < block; ++i) {
            send[peer * block + i] = Value(t.rank(), peer, i);
            wanted[peer * block + i] = Value(peer, t.rank(), i);
          }
        AllToAll(t, send, receive, "test");
        EXPECT_TRUE(receive == wanted) << n << " ranks, " << block << " bytes";
      });
      for (int rank = 0; rank < n; ++rank)
        EXPECT_EQ(testing::SentBy(world.transport(rank)), (n - 1) * block);
    }
}

TEST(AllToAll, RefusesWhatHasNoEqualBlocks) {
  RunRanks(3, [](Transport& t) {
    std::vector<std::byte> six(6), seven(7);
    EXPECT_THROW(AllToAll(t, six, seven, "test"), BadInput);
    EXPECT_THROW(AllToAll(t, seven, seven, "test"), BadInput);
  });
}

}  // namespace
}  // namespace torus::parallel
