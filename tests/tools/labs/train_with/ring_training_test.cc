// The trainer with rings of students: a small model, a few steps.
#include "tools/labs/train_with/ring_training.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "recipes/run/check_options.h"
#include "recipes/run/read_report.h"
#include "runtime/error.h"
#include "tests/recipes/small_data.h"
#include "tests/tools/labs/train_with/rings.h"
#include "tools/labs/train_with/ring_page.h"

namespace torus::tools::labs::testing {
namespace {

namespace fs = std::filesystem;

// The CIFAR ResNet-20 on images of bars.
recipes::RunOptions SmallRun(int ranks) {
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string folder = ::testing::TempDir() + "/" + name + std::to_string(ranks);
  fs::remove_all(folder);
  fs::create_directories(folder);
  recipes::testing::WriteImages(folder, "train", 48);
  recipes::testing::WriteImages(folder, "t10k", 12);
  recipes::RunOptions run{.out = folder + "/out", .max_steps = 3};
  run.settings.model = "cifar_resnet20";
  run.settings.data_dir = folder;
  run.settings.batch_size = 12;
  run.settings.micro_batches = 1;
  run.settings.replicas = ranks;
  run.settings.lr = 0.02;
  return recipes::CheckedOptions(run);
}

RingTraining TrainBy(const std::string& file, const recipes::RunOptions& run) {
  const int ranks = static_cast<int>(run.settings.replicas);
  const auto training = TrainWithRing(run, Load(file, ranks),
                                      [](const std::string&) { return recipes::RunCallbacks(); });
  EXPECT_TRUE(training);
  return training.value_or(RingTraining());
}

study::Page PageOf(const std::string& file, const RingTraining& training) {
  return RingPage({.file = file,
                   .training = training,
                   .ring = recipes::ReadReport(training.ring),
                   .own = recipes::ReadReport(training.own)});
}

void ExpectIn(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in " << text;
}

// What ends the run.
std::string ErrorOf(const std::string& file, const recipes::RunOptions& run) {
  try {
    TrainBy(file, run);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

uint64_t BytesOf(const RingTraining& training) {
  uint64_t bytes = 0;
  for (const RingCounts& rank : training.counts) bytes += rank.bytes;
  return bytes;
}

// Three is no power of two: n times a term rounds, in both runs alike.
TEST(RingTraining, TheSolutionGivesTheSameWeightsForAnyNumberOfRanks) {
  const RingTraining training = TrainBy(SolutionFile(), SmallRun(3));
  EXPECT_EQ(training.wrong_sum, "");
  EXPECT_EQ(training.difference.largest, 0) << training.difference.tensor;
  EXPECT_FALSE(training.other_order);
}

TEST(RingTraining, TheSolutionGivesTheWeightsOfTheTrainersOwnRing) {
  const RingTraining training = TrainBy(SolutionFile(), SmallRun(4));
  EXPECT_EQ(training.steps, 3);
  EXPECT_EQ(training.wrong_sum, "");
  EXPECT_EQ(training.difference.largest, 0) << training.difference.tensor;
  EXPECT_GT(training.difference.count, 250'000);
  EXPECT_FALSE(training.other_order);
  const study::Page page = PageOf("my_ring.cc", training);
  ExpectIn(study::ToText(page), {"were right on all ranks.", "weights are equal",
                                 "a ring sends 2 (n - 1) / n S", "the trainer's own ring"});
  ExpectIn(study::ToHtml(page), {"The loss is the same in every step, so", "class=\"message\""});
}

// It sends (n - 1) tensors, a ring 2 (n - 1) / n of one: 4 instead of 8 / 5.
TEST(RingTraining, WholeTensorsAreRightAndDear) {
  const RingTraining whole = TrainBy(FaultFile("whole_tensor"), SmallRun(5));
  EXPECT_EQ(whole.wrong_sum, "");
  EXPECT_EQ(whole.counts[0].largest_message * 3, whole.counts[0].elements * 4);
  EXPECT_EQ(BytesOf(whole), 5 * 4 * whole.counts[0].elements * 4);
  EXPECT_GT(whole.difference.largest, 0);
  ASSERT_TRUE(whole.other_order);
  EXPECT_GT(whole.other_order->largest, 0);
  ExpectIn(study::ToText(PageOf("whole_tensor.cc", whole)), {"sums in another order"});
}

TEST(RingTraining, AWrongRingTrainsWrongly) {
  const RingTraining wrong = TrainBy(FaultFile("missing_average"), SmallRun(2));
  EXPECT_NE(wrong.wrong_sum.find("elements are wrong"), std::string::npos);
  EXPECT_GT(wrong.difference.largest, 0);
  EXPECT_FALSE(wrong.other_order);
  const study::Page page = PageOf("wrong.cc", wrong);
  ExpectIn(study::ToText(page), {"A sum was wrong: on rank 0", "After 3 steps the weights differ"});
  ExpectIn(study::ToHtml(page), {"The losses part in step 2."});
}

TEST(RingTraining, ADifferenceIsRoundingOnlyWhereAnotherOrderDiffersToo) {
  const WeightDifference apart{.count = 9, .largest = 0.25, .tensor = "w", .weight = 1};
  EXPECT_NE(TextOf(apart, 3, WeightDifference{.count = 9}).find("some sum is wrong"),
            std::string::npos);
  EXPECT_EQ(TextOf(apart, 3, apart).find("wrong"), std::string::npos);
}

TEST(RingTraining, AnExceptionEndsTheRunWithRankAndStep) {
  const recipes::RunOptions run = SmallRun(3);
  ExpectIn(ErrorOf(RingFile("throws_in_third_sum"), run),
           {"rank 1: AllReduceMean threw an exception: the third one is too much", "step 2"});
  EXPECT_TRUE(fs::exists(run.out + "/ring/report.html"));
}

TEST(RingTraining, ADeadlockEndsTheRunWithRankAndStep) {
  recipes::RunOptions run = SmallRun(3);
  run.timeout = 5;
  ExpectIn(ErrorOf(FaultFile("deadlock_odd_ranks"), run),
           {"gave up after", "step 0", "of the ring", "they wait for each other"});
}

TEST(RingTraining, GoesOverEmulatedLinks) {
  recipes::RunOptions run = SmallRun(2);
  run.settings.links = {"1ms,1Gbps"};
  const RingTraining training = TrainBy(SolutionFile(), run);
  EXPECT_EQ(training.difference.largest, 0);
  run.out += " refused";
  run.settings.links = {
      "0-7:1ms,1Gbps"};  // past the check of flags: the links themselves refuse it
  ExpectIn(ErrorOf(SolutionFile(), run), {"[--link] names rank 7, but there are 2 ranks"});
}

}  // namespace
}  // namespace torus::tools::labs::testing
