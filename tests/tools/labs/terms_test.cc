#include "tools/labs/build_it_yourself/grader/terms.h"

#include <gtest/gtest.h>

namespace torus::tools::labs {
namespace {

// The mean has each of `counts` times 4^rank, times s.
std::string Says(const std::vector<int>& counts, double divided_by = 1, int s = 3) {
  double sum = 0;
  for (size_t rank = 0; rank < counts.size(); ++rank)
    sum += counts[rank] * static_cast<double>(FourTo(static_cast<int>(rank)));
  return WrongTerms(static_cast<float>(s * sum / divided_by), s, static_cast<int>(counts.size()),
                    [](int) { return 1; });
}

TEST(Terms, SaysWhoseAreThereAndWhoseNot) {
  EXPECT_EQ(Says({0, 0, 0, 0, 1}), "of the ranks' terms it has once rank 4; not ranks 0, 1, 2, 3");
  EXPECT_EQ(Says({2, 1, 3, 1, 1}),
            "of the ranks' terms it has once ranks 1, 3, 4, 2 times rank 0, 3 times rank 2");
  EXPECT_EQ(Says({0, 0, 0, 0, 0}), "of the ranks' terms it has none");
}

// Five times what a mean would be: the digits of base 4 are no longer the ranks' own.
TEST(Terms, ReadsASumThatIsNotDivided) {
  EXPECT_EQ(
      Says({0, 0, 0, 1, 1}, 0.2),
      "it is not divided by n; of the ranks' terms it has once ranks 3, 4; not ranks 0, 1, 2");
}

// Four ranks: a sum of theirs is the mean of others', so both readings are told.
TEST(Terms, TellsBothReadingsWhereThereAreTwo) {
  EXPECT_EQ(Says({1, 1, 0, 0}, 0.25),
            "of the ranks' terms it has once ranks 1, 2; not ranks 0, 3; or, if it is not divided "
            "by n, once ranks 0, 1; not ranks 2, 3");
}

TEST(Terms, SaysThatAValueIsNoneOfTheElements) {
  EXPECT_EQ(Says({1, 0, 0}, 2),
            "this is no mean and no sum of terms of this element: is it "
            "another's?");
}

}  // namespace
}  // namespace torus::tools::labs
