#include "parallel/schedule/comparison.h"

#include <gtest/gtest.h>

#include "parallel/schedule/factory.h"

namespace torus::parallel {
namespace {

Pipeline Equal(int ranks, int micro_batches) {
  Pipeline pipeline{.micro_batches = micro_batches, .chunks = 2, .ranks = ranks};
  pipeline.costs.forward.assign(ranks, 1);
  pipeline.costs.backward.assign(ranks, 2);
  pipeline.costs.boundary_bytes.assign(ranks, 10);
  pipeline.costs.state_bytes.assign(ranks, 100);
  pipeline.costs.activation_bytes.assign(ranks, 4);
  return pipeline;
}

TEST(Comparison, HasTheClosedFormsOfEachSchedule) {
  const std::vector<ScheduleFigures> all = CompareSchedules(Equal(4, 8));
  ASSERT_EQ(all.size(), 10u);
  const auto expect = [](const ScheduleFigures& f, const char* name, double seconds, int in_flight,
                         double peak, double sent) {
    EXPECT_EQ(f.name, name);
    EXPECT_DOUBLE_EQ(f.seconds, seconds) << name;
    EXPECT_NEAR(f.bubble, 1 - 8 * 3 / seconds, 1e-12) << name;
    EXPECT_EQ(f.in_flight, in_flight) << name;
    EXPECT_DOUBLE_EQ(f.peak_bytes, peak) << name;
    EXPECT_DOUBLE_EQ(f.sent_bytes, sent) << name;
  };
  // Three cuts, two directions, eight micro-batches of ten bytes; with two chunks seven cuts.
  expect(all[0], "gpipe", 24 + 9, 8, 100 + 8 * 4, 480);
  expect(all[1], "1f1b", 24 + 9, 4, 100 + 4 * 4, 480);
  expect(all[2], "interleaved", 24 + 4.5, 11, 100 + 11 * 2, 1120);
  expect(all[3], "zb-h1", 24 + 3, 4, 100 + 4 * 4, 480);
  // The first rank has two stages of half its size, and four cuts are crossed.
  expect(all[4], "zb-interleaved", 24 + 1.5, 11, 100 + 11 * 2, 1120);
  expect(all[5], "u-shaped", 24 + 9, 16, 100 + 16 * 2, 640);
  // Two stages a rank, of half its size; the cut at the turn of the V is crossed on one rank.
  expect(all[6], "zb-v", 24 + 3 / 2.0, 8, 100 + 8 * 2, 960);
  expect(all[7], "v-half", 24 + 5 / 2.0, 6, 100 + 6 * 2, 960);
  expect(all[8], "v-min", 24 + 11 / 2.0, 4, 100 + 4 * 2, 960);
  expect(all[9], "dualpipe-v", 24 + 3 / 2.0, 9, 100 + 9 * 2, 960);
}

// Rank 0 takes ten times as long as rank 1, and runs the first and the last of four stages.
TEST(Comparison, AStageHasThePartOfItsRank) {
  Pipeline pipeline = Equal(2, 1);
  pipeline.costs.forward = {10, 1};
  const CostModel costs =
      StageCosts(pipeline, MakeSchedule("zb-v", {.ranks = 2, .micro_batches = 1, .chunks = 2}));
  EXPECT_EQ(costs.forward, (std::vector<double>{5, 0.5, 0.5, 5}));
  EXPECT_EQ(costs.boundary_bytes, (std::vector<double>{10, 10, 10, 10}));
}

TEST(Comparison, PrintsALineASchedule) {
  EXPECT_EQ(ToTable({{.name = "gpipe",
                      .chunks = 1,
                      .seconds = 33,
                      .bubble = 0.2727,
                      .in_flight = 8,
                      .peak_bytes = 3 * 0x1p20,
                      .sent_bytes = 0x1p19}}),
            "schedule       chunks      seconds   bubble in flight     peak MiB     sent MiB\n"
            "gpipe               1           33   27.3 %         8          3.0          0.5\n");
}

}  // namespace
}  // namespace torus::parallel
