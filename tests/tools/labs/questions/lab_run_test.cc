#include "tools/labs/questions/lab_run.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/error.h"
#include "runtime/kernels.h"
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
    EXPECT_LE(epoch.data_seconds, epoch.seconds);
  }
  EXPECT_EQ(run.Test().images, 10);
}

// A last layer that gives class 0 the logit 1 and all others 0, for every image.
void SayClass0(std::vector<parallel::Block>& blocks) {
  for (NamedVariable& parameter : blocks.back().parameters) {
    Tensor values = parameter.value.data();
    Fill(values, 0);
    if (values.rank() == 1) values.mutable_data<float>()[0] = 1;
  }
}

// Of 12 images to train the first and the eleventh are of class 0, of 10 to test the first.
TEST(LabRun, CountsWhatIsRight) {
  LabRun run(ForRanks(testing::SmallLab(), 3, 2), {.images = 12,
                                                   .test_images = 10,
                                                   .learning_rate = [](int64_t) { return 0.0; },
                                                   .on_blocks = SayClass0});
  const double all = std::log(std::exp(1) + 9);
  const Epoch epoch = run.TrainEpoch();
  EXPECT_DOUBLE_EQ(epoch.accuracy, 2 / 12.0);
  EXPECT_NEAR(epoch.loss, all - 2 / 12.0, 1e-6);
  const TestScore test = run.Test();
  EXPECT_DOUBLE_EQ(test.accuracy, 1 / 10.0);
  EXPECT_NEAR(test.loss, all - 1 / 10.0, 1e-6);
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
