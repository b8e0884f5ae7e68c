// The agreement of ranks at each step, and what they count.
#include "parallel/trainer/step_agreement.h"

#include <gtest/gtest.h>

#include "parallel/schedule/factory.h"
#include "parallel/trainer/rank_counts.h"
#include "parallel/transport/run_ranks.h"

namespace torus::parallel {
namespace {

TEST(RankCounts, ComeBackAsTheyWere) {
  const RankCounts counts{.times = {1, 2, 3, 4, 5, 6},
                          .data_wait = 7,
                          .wall = 8,
                          .cuts = {{1, true, 2, 3, 4}, {5, false, 6, 7, 8}},
                          .reduced_bytes = {9, 10, 11},
                          .uncoded_bytes = {14, 15},
                          .weights_bytes = 12,
                          .optimizer_bytes = 13};
  const RankCounts back = CountsFrom(ToBytes(counts));
  EXPECT_EQ(back.times.forward, 1);
  EXPECT_EQ(back.times.idle, 6);
  EXPECT_EQ(back.data_wait, 7);
  EXPECT_EQ(back.wall, 8);
  ASSERT_EQ(back.cuts.size(), 2u);
  EXPECT_EQ(back.cuts[1].stage, 5);
  EXPECT_FALSE(back.cuts[1].forward);
  EXPECT_EQ(back.cuts[1].sent_bytes, 8u);
  EXPECT_EQ(back.reduced_bytes, counts.reduced_bytes);
  EXPECT_EQ(back.uncoded_bytes, counts.uncoded_bytes);
  EXPECT_EQ(back.weights_bytes, 12u);
  EXPECT_EQ(back.optimizer_bytes, 13u);
  EXPECT_EQ(counts.Since(counts).times.backward, 0);
  EXPECT_EQ(counts.Since(counts).cuts[0].raw_bytes, 0u);
}

// Three replicas of two stages: the last stages' losses are summed in one order, a rank that is
// not finite is heard of by all, and rank 0 alone says when it ends.
TEST(StepAgreement, AllRanksKnowLossSkipsAndTheEnd) {
  const WorldLayout layout(MakeSchedule("gpipe", {2, 1}), 3);
  std::vector<int64_t> ends(layout.size());
  std::vector<int64_t> asked;
  RunRanks(layout.size(), [&](Transport& world) {
    const int rank = world.rank();
    Communicator ranks(world);
    StepAgreement agreement(ranks, layout);
    agreement.Begin(3, [&](int64_t step) -> NextStep {
      EXPECT_EQ(rank, 0);
      asked.push_back(step);
      return {.run = step < 7, .trace = step == 4 ? NextStep::kOn : NextStep::kOff};
    });
    int64_t step = 3;
    for (; agreement.next().run != 0; ++step) {
      EXPECT_EQ(agreement.next().trace, step == 4 ? NextStep::kOn : NextStep::kOff);
      const double loss = rank % 2 == 1 ? 0.1 * static_cast<double>(rank * step) : 1e9;
      agreement.Settle(step, !(rank == 4 && step == 5), loss);
      EXPECT_EQ(agreement.skipped(), step == 5);
      const auto s = static_cast<double>(step);
      EXPECT_EQ(agreement.loss(), 0.1 * s + 0.1 * (3 * s) + 0.1 * (5 * s));
    }
    ends[rank] = step;
  });
  EXPECT_EQ(ends, std::vector<int64_t>(layout.size(), 7));
  EXPECT_EQ(asked, (std::vector<int64_t>{3, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace torus::parallel
