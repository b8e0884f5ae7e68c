#include "tools/labs/train_with/sum_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace torus::tools::labs {
namespace {

using Floats = std::vector<float>;

// What is found where two ranks hand in 1 and 2, and `result` comes out on rank 1.
std::string Found(const Floats& result, int64_t number = 0) {
  SumCheck check(2);
  check.HandIn(0, number, Floats{1, 10});
  check.HandIn(1, number, Floats{2, 20});
  check.Look(0, number, Floats{3, 30}, "a sum");
  check.Look(1, number, result, "a sum");
  return check.Finding();
}

TEST(SumCheck, TakesRoundingAndNothingElse) {
  EXPECT_EQ(Found({3, 30}), "");
  EXPECT_EQ(Found({std::nextafter(3.0F, 4.0F), 30}), "");
  EXPECT_EQ(Found({3, 30.001F}),
            "on rank 1 1 of 2 elements are wrong; the first is element 1, 30.001, which should be "
            "30 (a sum)");
  EXPECT_EQ(Found({6, 60}),
            "on rank 1 2 of 2 elements are wrong; the first is element 0, 6, which should be 3 (a "
            "sum)");
  EXPECT_NE(Found({std::numeric_limits<float>::quiet_NaN(), 30}), "");
}

TEST(SumCheck, LooksAtTheFirstSumsAndThenAtFewer) {
  for (const int64_t number : {0, 1, 2, 4, 1024}) EXPECT_NE(Found({6, 60}, number), "") << number;
  for (const int64_t number : {3, 5, 1023}) EXPECT_EQ(Found({6, 60}, number), "") << number;
}

TEST(SumCheck, KeepsTheFirstFindingOfARank) {
  SumCheck check(1);
  for (const int64_t number : {0, 1, 2}) {
    check.HandIn(0, number, Floats{1});
    check.Look(0, number, Floats{static_cast<float>(number + 1)}, "sum " + std::to_string(number));
  }
  EXPECT_NE(check.Finding().find("sum 1"), std::string::npos) << check.Finding();
}

TEST(SumCheck, LeavesOutWhatIsNotFinite) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  SumCheck check(2);
  check.HandIn(0, 0, Floats{kInf, 1});
  check.HandIn(1, 0, Floats{1, 1});
  check.Look(0, 0, Floats{7, 2}, "a sum");
  EXPECT_EQ(check.Finding(), "");
}

}  // namespace
}  // namespace torus::tools::labs
