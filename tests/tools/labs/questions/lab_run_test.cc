#include "tools/labs/questions/lab_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.h"
#include "tests/tools/labs/questions/small_lab.h"
#include "tools/labs/questions/formulas.h"
#include "tools/labs/questions/memory_bound.h"
#include "tools/labs/questions/scaling_run.h"

namespace torus::labs {
namespace {

TEST(LabRun, TrainsWholeBatchesOfAPartOfTheData) {
  LabOptions o = testing::SmallLab();
  LabRun run(ForRanks(o, 3, 2), {.images = 16, .test_images = 10});
  EXPECT_EQ(run.steps_per_epoch(), 2);
  EXPECT_EQ(run.images_per_epoch(), 12);
  for (int64_t number : {1, 2}) {
    const Epoch epoch = run.TrainEpoch();
    EXPECT_EQ(epoch.number, number);
    EXPECT_EQ(epoch.steps, 2);
    EXPECT_EQ(epoch.images, 12);
    EXPECT_EQ(epoch.losses.size(), 2u);
    EXPECT_DOUBLE_EQ(epoch.loss, (epoch.losses[0] + epoch.losses[1]) / 2);
    EXPECT_GE(epoch.accuracy, 0);
    EXPECT_LE(epoch.accuracy, 1);
    EXPECT_LE(epoch.data_seconds, epoch.seconds);
  }
  EXPECT_EQ(run.Test().images, 10);
}

// Of ten classes a loss of less than ln 2 is of an image whose class has more than half of the
// probability, and one of more than ln 10 of an image whose class is not the likeliest.
TEST(LabRun, CountsTheImagesThatItGetsRight) {
  LabOptions o = testing::SmallLab();
  o.settings.augment = "none";
  LabRun run(ForRanks(o, 1, 1), {.images = 16});
  int64_t surely_right = 0, surely_wrong = 0;
  for (int i = 0; i < 8; ++i) {
    const Epoch epoch = run.TrainEpoch();
    ASSERT_EQ(epoch.losses.size(), 16u);
    const auto right =
                   std::ranges::count_if(epoch.losses, [](double l) { return l < std::log(2); }),
               wrong =
                   std::ranges::count_if(epoch.losses, [](double l) { return l > std::log(10); });
    EXPECT_GE(16 * epoch.accuracy, static_cast<double>(right));
    EXPECT_LE(16 * epoch.accuracy, static_cast<double>(16 - wrong));
    surely_right += right;
    surely_wrong += wrong;
  }
  EXPECT_GT(surely_right, 0) << "nothing is learnt, so nothing is tested";
  EXPECT_GT(surely_wrong, 0);
}

// A link is never faster than it says: each half of the ring sends once.
TEST(LabRun, SendsOverItsLinks) {
  LabRun run(ForRanks(testing::SmallLab(), 2, 2), {.images = 4, .links = {"0-1:300ms,1Gbps"}});
  EXPECT_GE(run.TrainEpoch().seconds, 2 * 0.3);
}

TEST(LabRun, RefusesABatchThatTheImagesDoNotFill) {
  EXPECT_THROW(LabRun(ForRanks(testing::SmallLab(), 32, 1), {.images = 16}), BadInput);
}

// Without a rate the weights stay, and equal batches then have equal losses up to nothing.
TEST(LabRun, RepeatsTheFirstOrderWhereAsked) {
  LabOptions o = testing::SmallLab();
  o.settings.augment = "none";
  for (const bool repeats : {true, false}) {
    LabRun run(ForRanks(o, 4, 1), {.images = 16,
                                   .repeats_first_order = repeats,
                                   .learning_rate = [](int64_t) { return 0.0; }});
    const std::vector<double> first = run.TrainEpoch().losses, second = run.TrainEpoch().losses;
    EXPECT_EQ(first == second, repeats);
  }
}

TEST(ScalingRun, SendsTheBytesOfPatarasukAndYuan) {
  const LabOptions o = testing::SmallLab();
  for (const int64_t ranks : {2, 4}) {
    const ScalingRun run = MeasureSecondEpoch(o, 16, 2, ranks, true, testing::Silent);
    EXPECT_EQ(run.epoch.number, 2);
    EXPECT_DOUBLE_EQ(run.sent_bytes, RingBytes(ranks, run.gradient_bytes));
    EXPECT_EQ(run.times.steps, 16 / (2 * ranks));
    EXPECT_GT(run.times.compute, 0);
  }
}

TEST(ScalingRun, TakesImagesThatFillTheLargestBatch) {
  LabOptions o = testing::SmallLab();
  o.images = 0;
  EXPECT_EQ(CommonImages(o, 40), 80);
  o.images = 30;
  EXPECT_EQ(CommonImages(o, 8), 24);
  EXPECT_THROW(CommonImages(o, 31), BadInput);
}

TEST(MemoryBound, EndsWhereTensorsDoNotFit) {
  uint64_t peak = 0;
  {
    const MemoryBound bound({}, uint64_t{256} << 20);
    EXPECT_TRUE(bound.Holds([] { Empty({1 << 20}); }, peak));
    EXPECT_GE(peak, uint64_t{4} << 20);
    EXPECT_FALSE(bound.Holds([] { Empty({1 << 28}); }, peak));
    EXPECT_THROW(bound.Holds([] { Throw<BrokenEnvironment>("x", "disk full"); }, peak),
                 BrokenEnvironment);
  }
  EXPECT_EQ(Empty({1 << 27}).numel(), 1 << 27);  // the bound is gone
}

}  // namespace
}  // namespace torus::labs
