#include "parallel/pipeline/loss_terms.h"

#include <gtest/gtest.h>

#include "runtime/binary_counter.h"

namespace torus::parallel {
namespace {

Tensor LossOf(double value) { return Full({}, value); }

TEST(LossTerms, AreSummedInATreeWhateverTheirOrder) {
  // In f64 the order shows: the large terms cancel in pairs, or swallow the small ones.
  const std::vector<double> values{1e16, 1, -1e16, 1, 3};
  LossTerms terms;
  for (const int m : {4, 0, 2, 1, 3}) terms.Add(m, 0.5, Full({}, values[m], DType::kF64));
  std::vector<double> halves;
  for (const double value : values) halves.push_back(0.5 * value);
  EXPECT_EQ(terms.Sum(), TreeSum(halves));
  EXPECT_NE(terms.Sum(), ((((0.5e16 + 0.5) - 0.5e16) + 0.5) + 1.5));
}

TEST(LossTerms, OfNothingAreZero) {
  LossTerms terms;
  EXPECT_EQ(terms.Sum(), 0);
  terms.Add(2, 0.25, LossOf(8));  // those before have no samples
  EXPECT_EQ(terms.Sum(), 2);
  terms.Add(0, 1, LossOf(1));
  EXPECT_EQ(terms.Sum(), 3);
  terms.Clear();
  EXPECT_EQ(terms.Sum(), 0);
}

}  // namespace
}  // namespace torus::parallel
