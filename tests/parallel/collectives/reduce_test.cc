#include "parallel/collectives/reduce.h"

#include <gtest/gtest.h>

#include "parallel/collectives/tree.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "tests/parallel/collectives/terms.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

TEST(Reduce, EveryRootGetsTheSumAndEveryOtherRankSendsOnce) {
  for (int n = 1; n <= 8; ++n)
    for (int root = 0; root < n; ++root)
      for (const int64_t count : {0, 1, 7, 100'003}) {
        InProcessWorld world(n);
        RunRanks(world, [&](Transport& t) {
          std::vector<double> data = Terms<double>(t.rank(), count);
          Reduce(t, std::span<double>(data), root, "test");
          if (t.rank() == root) {
            EXPECT_TRUE(data == Sums<double>(n, count)) << n << ", " << root << ", " << count;
          }
        });
        for (int rank = 0; rank < n; ++rank)
          EXPECT_EQ(SentBy(world.transport(rank)), rank == root ? 0 : sizeof(double) * count);
      }
}

TEST(Reduce, BadRoot) {
  RunRanks(2, [](Transport& t) {
    std::vector<float> data(3);
    EXPECT_THROW(Reduce(t, std::span<float>(data), 2, "test"), BadInput);
    EXPECT_THROW(Reduce(t, std::span<float>(data), -1, "test"), BadInput);
  });
}

TEST(BinaryTree, EveryRankHangsFromTheRoot) {
  for (int n = 1; n <= 17; ++n)
    for (int root = 0; root < n; ++root) {
      int links = 0;
      for (int rank = 0; rank < n; ++rank) {
        const BinaryTree tree(n, rank, root);
        EXPECT_EQ(tree.parent() < 0, rank == root);
        for (const int child : tree.children())
          EXPECT_EQ(BinaryTree(n, child, root).parent(), rank);
        links += static_cast<int>(tree.children().size());
        EXPECT_LE(tree.children().size(), 2u);
      }
      EXPECT_EQ(links, n - 1);
    }
}

}  // namespace
}  // namespace torus::parallel
