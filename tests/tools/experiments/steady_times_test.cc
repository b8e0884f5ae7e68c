// Times of warm steps, from a trace.
#include "tools/experiments/common/steady_times.h"

#include <gtest/gtest.h>

namespace torus::experiments {
namespace {

trace::Event Of(const char* category, int rank, int64_t step, double begin, double end,
                const char* name = "x") {
  return {.name = name,
          .category = category,
          .rank = rank,
          .begin_ns = static_cast<int64_t>(1e9 * begin),
          .end_ns = static_cast<int64_t>(1e9 * end),
          .step = step};
}

TEST(SteadyTimes, LeavesTheFirstTwoStepsOut) {
  const std::vector<trace::Event> events{
      Of("optimizer", 0, 0, 0, 100), Of("optimizer", 0, 1, 100, 150), Of("forward", 0, 2, 150, 151),
      Of("forward", 1, 2, 150, 153), Of("optimizer", 0, 2, 153, 154), Of("forward", 0, 4, 160, 162),
      Of("forward", 1, 4, 160, 162), Of("optimizer", 1, 4, 163, 164)};
  const auto times = SteadyTimes(events);
  // Two ranks, two steps.
  EXPECT_DOUBLE_EQ(times.at("forward"), (1 + 3 + 2 + 2) / 4.0);
  EXPECT_DOUBLE_EQ(times.at("optimizer"), 2 / 4.0);
  EXPECT_DOUBLE_EQ(times.at("wall"), 4);
  EXPECT_FALSE(times.contains("reduce"));
}

TEST(SteadyTimes, TakesTheLastStepOfAShortRun) {
  const auto times =
      SteadyTimes({Of("forward", 0, 0, 0, 9), Of("forward", 0, 1, 9, 10), Of("codec", 0, 1, 9, 10),
                   Of("data", 0, 1, 10, 12, "data"), Of("data", 0, 1, 10, 11, "fetch")});
  EXPECT_DOUBLE_EQ(times.at("forward"), 1);
  EXPECT_DOUBLE_EQ(times.at("data"), 2);
  EXPECT_FALSE(times.contains("codec"));
  EXPECT_TRUE(SteadyTimes({}).empty());
}

}  // namespace
}  // namespace torus::experiments
