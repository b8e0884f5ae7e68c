#include "recipes/run/verify_resume.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "parallel/trainer/checkpoint.h"
#include "runtime/error.h"
#include "tests/recipes/run/image_run.h"

namespace torus::recipes {
namespace {

class VerifyResumeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_ = {.settings = testing::SmallSettings(2, 1, 2),
                .out = ::testing::TempDir() + "/" +
                       ::testing::UnitTest::GetInstance()->current_test_info()->name()};
    options_.settings.epochs = 2;
    std::filesystem::remove_all(options_.out);
  }
  RunOptions options_;
};

TEST_F(VerifyResumeTest, FindsTheBitsOfARunWithoutAStop) {
  options_.settings.ema = 0.9;
  const ResumeCheck check = VerifyResume(options_, 3);
  EXPECT_TRUE(check.finished);
  EXPECT_EQ(check.different, 0) << ToText(check);
  EXPECT_GT(check.tensors, 100);
  EXPECT_EQ(check.steps, 6);
  EXPECT_EQ(parallel::LoadCheckpoint(options_.out + "/stopped/checkpoint").step, 3);
  EXPECT_EQ(parallel::LoadCheckpoint(options_.out + "/resumed/checkpoint").step, 6);
}

// The comparison itself: one bit of one tensor of the optimizer.
TEST_F(VerifyResumeTest, NamesTheTensorThatDiffersFirst) {
  VerifyResume(options_, 1);
  const std::string whole = options_.out + "/whole/checkpoint", other = options_.out + "/other";
  parallel::TrainState state = parallel::LoadCheckpoint(whole);
  ASSERT_FALSE(state.optimizer.empty());
  NamedTensor& changed = state.optimizer.back();
  changed.value.mutable_data<float>()[0] += 1;
  const std::string last = state.weights.back().name;
  parallel::SaveCheckpoint(other, state);
  ResumeCheck check = CompareCheckpoints(whole, other);
  EXPECT_EQ(check.different, 1);
  EXPECT_EQ(check.first.find("optimizer of " + changed.name + ": 1 of "), 0u) << check.first;
  EXPECT_NE(ToText(check).find("1 of "), std::string::npos);
  state.weights.pop_back();
  parallel::SaveCheckpoint(other, state);
  check = CompareCheckpoints(whole, other);
  EXPECT_EQ(check.different, 2);
  EXPECT_EQ(check.first, "weights has " + last + " only in the run without a stop");
}

TEST_F(VerifyResumeTest, NeedsSomethingToResume) {
  options_.settings.epochs = 1;
  EXPECT_THROW(VerifyResume(options_, 1000), BadInput);
  options_.resume = options_.out;
  EXPECT_THROW(VerifyResume(options_, 1), BadInput);
}

}  // namespace
}  // namespace torus::recipes
