#include "parallel/collectives/any_rank.h"

#include <gtest/gtest.h>

#include <atomic>

#include "parallel/transport/run_ranks.h"

namespace torus::parallel {
namespace {

TEST(AnyRank, TellsEveryRankWhatAnyOneSays) {
  for (int size = 1; size <= 9; ++size)
    for (int speaker = -1; speaker < size; ++speaker) {  // -1: none
      std::atomic<int> heard = 0;
      RunRanks(size, [&](Transport& transport) {
        double waited = 0;
        heard += AnyRank(transport, transport.rank() == speaker, "test", waited) ? 1 : 0;
        EXPECT_GE(waited, 0);
      });
      EXPECT_EQ(heard, speaker < 0 ? 0 : size) << "rank " << speaker << " of " << size;
    }
}

TEST(AnyRank, OneQuestionAfterTheOtherStayApart) {
  RunRanks(5, [](Transport& transport) {
    double waited = 0;
    for (int round = 0; round < 100; ++round)
      ASSERT_EQ(AnyRank(transport, round % 7 == transport.rank(), "test", waited), round % 7 < 5);
  });
}

}  // namespace
}  // namespace torus::parallel
