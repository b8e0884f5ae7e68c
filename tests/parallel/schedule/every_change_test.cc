// The verifier against an exhaustive search over interleavings: each schedule as it is, without any
// one of its actions, and with any two neighbours of a rank's list swapped.
#include <gtest/gtest.h>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/printer.h"
#include "parallel/schedule/verifier.h"
#include "runtime/error.h"
#include "tests/parallel/schedule/exhaustive_search.h"

namespace torus::parallel {
namespace {

std::string Verdict(const Schedule& schedule) {
  try {
    Verify(schedule);
    return "";
  } catch (const BadInput& error) {
    return error.what();
  }
}

// How many schedules were compared, and how many of them are valid.
struct Counts {
  int all = 0, valid = 0;
};

void Compare(const Schedule& schedule, Counts& counts) {
  const std::string fault = testing::FindFault(schedule), verdict = Verdict(schedule);
  EXPECT_EQ(fault.empty(), verdict.empty())
      << "found: " << fault << "\nverifier: " << verdict << "\n"
      << ToText(schedule);
  ++counts.all;
  counts.valid += fault.empty();
}

void CompareChanges(const Schedule& schedule, Counts& counts) {
  Compare(schedule, counts);
  for (int rank = 0; rank < schedule.num_ranks; ++rank) {
    for (size_t i = 0; i < schedule.ranks[rank].size(); ++i) {
      Schedule changed = schedule;
      changed.ranks[rank].erase(changed.ranks[rank].begin() + static_cast<int64_t>(i));
      if (changed.ranks[rank].empty()) continue;  // a rank without stages
      Compare(changed, counts);
      if (i + 1 == schedule.ranks[rank].size()) continue;
      changed = schedule;
      std::swap(changed.ranks[rank][i], changed.ranks[rank][i + 1]);
      Compare(changed, counts);
    }
  }
}

class EveryChange : public ::testing::TestWithParam<std::pair<const char*, int>> {};

INSTANTIATE_TEST_SUITE_P(Schedules, EveryChange,
                         ::testing::Values(std::pair{"gpipe", 1}, std::pair{"1f1b", 1},
                                           std::pair{"zb-h1", 1}, std::pair{"u-shaped", 1},
                                           std::pair{"interleaved", 1}, std::pair{"interleaved", 2},
                                           std::pair{"zb-interleaved", 2}, std::pair{"zb-v", 2},
                                           std::pair{"v-half", 2}, std::pair{"v-min", 2},
                                           std::pair{"dualpipe-v", 2}));

TEST_P(EveryChange, HasTheVerdictOfTheSearch) {
  const auto [name, chunks] = GetParam();
  for (int ranks = 1; ranks <= 3; ++ranks) {
    for (int m = 1; m <= 3; ++m) {
      Counts counts;
      const Schedule schedule = MakeSchedule(name, {ranks, m, chunks});
      EXPECT_EQ(testing::FindFault(schedule), "") << ToText(schedule);
      CompareChanges(schedule, counts);
      EXPECT_GT(counts.valid, 0);
      EXPECT_LT(counts.valid, counts.all);
    }
  }
}

}  // namespace
}  // namespace torus::parallel
