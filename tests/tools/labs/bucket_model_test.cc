#include "tools/labs/build_it_yourself/grader/bucket_model.h"

#include <gtest/gtest.h>

namespace torus::tools::labs {
namespace {

class BucketModelTest : public ::testing::Test {
 protected:
  Dice dice_{1};
  // Buckets of 5 floats, from the last: 2 + 3; 1 + 4; 9; 0 + 5.
  BucketModel model_{dice_, 2, 2, 5, {5, 0, 9, 4, 1, 3, 2}};
};

TEST_F(BucketModelTest, CutsFromTheLastParameter) {
  const auto cuts = model_.Buckets();
  ASSERT_EQ(cuts.size(), 4U);
  const size_t begins[] = {5, 3, 2, 0}, ends[] = {7, 5, 3, 2}, floats[] = {5, 5, 9, 5};
  for (size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(cuts[k].begin, begins[k]);
    EXPECT_EQ(cuts[k].end, ends[k]);
    EXPECT_EQ(cuts[k].bytes, floats[k] * sizeof(float));
  }
}

TEST_F(BucketModelTest, AMeanHasTheTermsThatCome) {
  const float scale = static_cast<float>(model_.Scale(1, 2, 8));
  EXPECT_EQ(model_.Term(0, 1, 2, 8), 2 * scale);
  EXPECT_EQ(model_.Term(1, 1, 2, 8), 8 * scale);
  EXPECT_EQ(model_.Mean(1, 2, 8), 5 * scale);
  model_.LeaveOut(1, 1, 2);
  EXPECT_EQ(model_.Term(1, 1, 2, 8), 0);
  EXPECT_EQ(model_.Mean(1, 2, 8), scale);
  EXPECT_EQ(model_.Mean(0, 2, 8), 5 * static_cast<float>(model_.Scale(0, 2, 8)));
}

// On two ranks a sum of b bytes takes 2 latency + b / bandwidth: here 2, 2, 2.8 and 2 s.
TEST_F(BucketModelTest, SumsRunBesideTheBackward) {
  for (auto& milliseconds : model_.milliseconds) milliseconds.assign(7, 1000);
  model_.milliseconds[1][6] = 3000;  // the second rank has everything 2 s later
  const BucketTimes times = TimesOf(model_, {0.5, 20});
  EXPECT_EQ(times.full[0], (std::vector<double>{2, 4, 5, 7}));
  EXPECT_EQ(times.full[1], (std::vector<double>{4, 6, 7, 9}));
  EXPECT_EQ(times.backward, 9);
  EXPECT_DOUBLE_EQ(times.sums, 2 + 2 + 2.8 + 2);
  // 4 to 6, 6 to 8, 8 to 10.8, to 12.8; the second step the same.
  EXPECT_DOUBLE_EQ(times.all, 2 * 12.8);
}

// Where the link is fast, the last bucket alone is left.
TEST_F(BucketModelTest, OnlyTheLastSumIsLeftOnAFastLink) {
  for (auto& milliseconds : model_.milliseconds) milliseconds.assign(7, 1000);
  EXPECT_DOUBLE_EQ(TimesOf(model_, {0.05, 100}).all, 2 * (7 + 0.3));
}

}  // namespace
}  // namespace torus::tools::labs
