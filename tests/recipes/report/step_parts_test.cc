// Seconds of steps and ranks, from a trace.
#include "recipes/report/step_parts.h"

#include <gtest/gtest.h>

namespace torus::recipes {
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

TEST(StepParts, AreSecondsByStepRankAndCategory) {
  const StepParts parts = StepPartsOf({Of("forward", 0, 4, 2, 3), Of("forward", 0, 4, 5, 7),
                                       Of("reduce", 1, 4, 1, 9), Of("idle", 0, 6, 20, 21)});
  ASSERT_EQ(parts.size(), 2U);
  const StepPart& rank0 = parts.at(4).at(0);
  EXPECT_DOUBLE_EQ(rank0.Of("forward"), 3);
  EXPECT_DOUBLE_EQ(rank0.Of("reduce"), 0);
  EXPECT_EQ(rank0.begin_ns, 2'000'000'000);
  EXPECT_EQ(rank0.end_ns, 7'000'000'000);
  EXPECT_DOUBLE_EQ(parts.at(4).at(1).Of("reduce"), 8);
  EXPECT_DOUBLE_EQ(parts.at(6).at(0).Of("idle"), 1);
}

TEST(StepParts, CountNoTimeTwice) {
  const StepParts parts = StepPartsOf(
      {Of("forward", 0, 0, 0, 9), Of("codec", 0, 0, 1, 2), Of("data", 0, 0, 9, 12, "data"),
       Of("data", 0, 0, 9, 11, "fetch"), Of("forward", 0, -1, 0, 5)});
  EXPECT_EQ(parts.at(0).at(0).seconds,
            (std::map<std::string, double>{{"data", 3.0}, {"forward", 9.0}}));
  EXPECT_EQ(parts.size(), 1U);
}

}  // namespace
}  // namespace torus::recipes
