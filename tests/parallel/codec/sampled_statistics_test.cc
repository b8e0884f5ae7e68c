#include "parallel/codec/sampled_statistics.h"

#include <gtest/gtest.h>

#include "runtime/parallel_for.h"
#include "tests/parallel/codec/exact_sort.h"
#include "tests/testing/twins.h"

namespace torus::parallel {
namespace {

constexpr size_t kCount = 200003;

std::vector<int64_t> Quarters() {
  const auto n = static_cast<int64_t>(kCount);
  return {0, n / 4 - 1, n / 4, n / 2 - 1, n / 2, 3 * n / 4 - 1, 3 * n / 4, n - 1};
}

void ExpectExactOrMissed(const std::vector<float>& values, const std::vector<int64_t>& ranks,
                         bool must_find) {
  const std::vector<uint32_t> order = StableOrder(values);
  std::vector<uint32_t> found(ranks.size());
  const Sampled sampled = SampledStatistics(values, ranks, found);
  ASSERT_NE(sampled, Sampled::kNotFinite);
  ASSERT_TRUE(sampled == Sampled::kFound || !must_find);
  if (sampled == Sampled::kMissed) return;
  for (size_t i = 0; i < ranks.size(); ++i) ASSERT_EQ(found[i], order[ranks[i]]) << ranks[i];
}

// Where values are few the histogram's way is taken.
bool IsSmooth(const std::string& name) {
  return name == "normal" || name == "relu" || name == "relu6" || name == "ascending" ||
         name == "descending" || name == "heavy_tail" || name == "huge" || name == "constant" ||
         name == "mixed_scales" || name == "signed_zeros" || name == "bimodal";
}

TEST(SampledStatistics, AgreesWithAStableSortAtEveryVectorWidth) {
  testing::ForEachVectorWidth([] {
    for (const std::string& name : Distributions()) {
      SCOPED_TRACE(name);
      const std::vector<float> values = Draw(name, kCount, 1);
      ASSERT_NO_FATAL_FAILURE(ExpectExactOrMissed(values, Quarters(), IsSmooth(name)));
    }
  });
}

// Three ranks between the ends: the brackets of four hold more than the quarter of so few values
// for which one thread has room.
TEST(SampledStatistics, AnyRanksOfAnyTeam) {
  const int before = TeamSize();
  std::mt19937 rng(3);
  for (const std::string name : {"normal", "relu", "relu6", "mixed_scales"})
    for (int team : {1, 2, 3}) {
      SetTeamSize(team);
      const std::vector<float> values = Draw(name, kCount, rng());
      std::vector<int64_t> ranks;
      for (int i = 0; i < 3; ++i) ranks.push_back(static_cast<int64_t>(rng() % kCount));
      for (const int64_t end : {int64_t{0}, static_cast<int64_t>(kCount) - 1}) ranks.push_back(end);
      std::ranges::sort(ranks);
      SCOPED_TRACE(fmt::format("{}, {} threads, ranks {}", name, team, fmt::join(ranks, " ")));
      ASSERT_NO_FATAL_FAILURE(ExpectExactOrMissed(values, ranks, true));
    }
  SetTeamSize(before);
}

// No rank between the least and the greatest value, which are frequent (relu6) or not.
TEST(SampledStatistics, OnlyTheEnds) {
  const auto last = static_cast<int64_t>(kCount) - 1;
  for (const std::string name : {"normal", "relu6", "constant", "signed_zeros"})
    for (const std::vector<int64_t>& ranks :
         {std::vector<int64_t>{0, 0, last}, std::vector<int64_t>{last}, std::vector<int64_t>{0}}) {
      SCOPED_TRACE(fmt::format("{}, ranks {}", name, fmt::join(ranks, " ")));
      ASSERT_NO_FATAL_FAILURE(ExpectExactOrMissed(Draw(name, kCount, 7), ranks, true));
    }
}

// Two far hills: the cut between them has no value near it.
TEST(SampledStatistics, ValuesInTwoHills) {
  std::vector<float> values = Draw("normal", kCount, 4);
  for (size_t i = 0; i < kCount; i += 2) values[i] += 1e6f;
  ASSERT_NO_FATAL_FAILURE(ExpectExactOrMissed(values, Quarters(), true));
}

TEST(SampledStatistics, OneValueThatIsNotFinite) {
  for (const size_t where : {size_t{0}, kCount / 2, kCount - 1}) {
    std::vector<float> values = Draw("normal", kCount, 5);
    values[where] = std::nanf("");
    std::vector<uint32_t> found(8);
    EXPECT_NE(SampledStatistics(values, Quarters(), found), Sampled::kFound);
  }
}

TEST(SampledStatistics, LeavesSmallInputsAndManyRanksAlone) {
  std::vector<uint32_t> found(9);
  const std::vector<float> values = Draw("normal", kCount, 6);
  const std::vector<int64_t> nine{0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(SampledStatistics(values, nine, found), Sampled::kMissed);
  EXPECT_EQ(SampledStatistics(std::span(values).first(1000), std::span(nine).first(1), found),
            Sampled::kMissed);
}

}  // namespace
}  // namespace torus::parallel
