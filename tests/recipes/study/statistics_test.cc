// Means, deviations, and the interval of a paired difference.
#include "recipes/study/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "runtime/error.h"

namespace torus::study {
namespace {

TEST(Statistics, OfAFewValues) {
  const Measured m = Summarize({1, 2, 6});
  EXPECT_DOUBLE_EQ(m.mean, 3);
  EXPECT_DOUBLE_EQ(m.deviation, std::sqrt(7.0));  // (4 + 1 + 9) / 2
  EXPECT_EQ(m.count, 3);
  EXPECT_EQ(Summarize({5}).deviation, 0);
  EXPECT_THROW(Summarize({}), BadInput);
}

// Of one degree it is Cauchy's, of two it has a closed form.
TEST(Student, CdfIsThatOfItsClosedForms) {
  for (const double t : {-30.0, -1.5, 0.0, 0.1, 2.0, 1e6}) {
    EXPECT_NEAR(StudentCdf(t, 1), 0.5 + std::atan(t) / std::numbers::pi, 1e-14) << t;
    EXPECT_NEAR(StudentCdf(t, 2), 0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-14) << t;
  }
}

// The usual table, as printed: three or four digits.
TEST(Student, QuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(StudentQuantile(0.95, 1), 12.706, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 2), 4.303, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 3), 3.182, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.99, 4), 4.604, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.90, 7), 1.895, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 30), 2.042, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 100000), 1.960, 5e-4);
  EXPECT_THROW(StudentQuantile(1, 3), BadInput);
  EXPECT_THROW(StudentQuantile(0.95, 0), BadInput);
}

TEST(PairedDifference, PairsBySeed) {
  const Difference d = PairedDifference({93, 91, 95}, {92, 91, 93});
  EXPECT_DOUBLE_EQ(d.mean, 1);
  EXPECT_DOUBLE_EQ(d.deviation, 1);
  const double reach = 4.3027 / std::sqrt(3.0);
  EXPECT_NEAR(d.low, 1 - reach, 1e-4);
  EXPECT_NEAR(d.high, 1 + reach, 1e-4);
}

TEST(PairedDifference, OfOnePairBoundsNothing) {
  const Difference d = PairedDifference({3}, {1});
  EXPECT_EQ(d.mean, 2);
  EXPECT_TRUE(std::isinf(d.low) && d.low < 0);
  EXPECT_TRUE(std::isinf(d.high) && d.high > 0);
  EXPECT_THROW(PairedDifference({1, 2}, {1}), BadInput);
  EXPECT_THROW(PairedDifference({}, {}), BadInput);
}

}  // namespace
}  // namespace torus::study
