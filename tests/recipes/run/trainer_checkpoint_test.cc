// A checkpoint that an application writes through its own Trainer, and one that a run leaves: the
// same files, each read by the other's readers.
#include "parallel/trainer/checkpoint.h"
#include "recipes/evaluate/evaluate.h"
#include "recipes/run/resumed_run.h"
#include "recipes/run/run.h"
#include "runtime/team_size_guard.h"
#include "tests/recipes/run/image_run.h"
#include "tests/testing/checkpoint_bytes.h"
#include "tests/testing/tolerance.h"

namespace torus::recipes::testing {
namespace {

namespace fs = std::filesystem;
using torus::testing::CheckpointBytes;
using torus::testing::Tolerance;

constexpr int64_t kEnd = 6, kHalf = 3;
// MobileNetV2, whose depthwise and dense convolution weights have four dimensions each.
class TrainerCheckpoint : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    settings_ = SmallSettings(2, 1, 2);
    settings_.epochs = 2;
    settings_.ema = 0.9;
  }
  // The folder of a run of so many steps.
  std::string RunTo(int64_t steps) const {
    const std::string out = folder_ + "/run-" + std::to_string(steps);
    recipes::Run({.settings = settings_, .out = out, .max_steps = steps});
    return out;
  }
  // What an application makes of its own Trainer, with the steps from `first` on.
  ImageRun Application(const Settings& settings, int64_t first) const {
    return ImageRun(settings, {.ema_decay = settings.ema}, {}, first);
  }

  std::string folder_;
  Settings settings_;
};

void ExpectSameTensors(const std::string& a, const std::string& b) {
  EXPECT_TRUE(CheckpointBytes(a) == CheckpointBytes(b));
}

TEST_F(TrainerCheckpoint, OfARunGoesOnInATrainerAndBecomesTheSameFiles) {
  const std::string half = RunTo(kHalf), whole = RunTo(kEnd);
  ImageRun application = Application(LoadStored(half).settings, kHalf);
  application.trainer().SetState(parallel::LoadCheckpoint(half + "/checkpoint"));
  const std::string same = folder_ + "/same", own = folder_ + "/own";
  application.trainer().Save(same);
  ExpectSameTensors(same, half + "/checkpoint");
  application.TrainTo(kEnd);
  application.trainer().Save(own);
  ExpectSameTensors(own, whole + "/checkpoint");
}

TEST_F(TrainerCheckpoint, OfATrainerGoesOnAsARun) {
  const std::string whole = RunTo(kEnd);
  const Settings settings = LoadStored(whole).settings;
  ImageRun application = Application(settings, 0);
  application.TrainTo(kHalf);
  const RunFolder own{folder_ + "/own"};
  SaveRun(own, {.settings = settings, .cuts = {application.trainer().cuts(), {}}},
          application.trainer());
  recipes::Run({.settings = settings, .resume = own.path, .max_steps = kEnd});
  ExpectSameTensors(own.checkpoint(), whole + "/checkpoint");
}

TEST_F(TrainerCheckpoint, IsEvaluatedAsTheTrainerItselfIs) {
  Settings settings = SmallSettings(2, 1, 1);  // no averages: the file has the weights themselves
  Task task(settings, "");
  ImageRun application = Application(settings, 0);
  application.TrainTo(kHalf);
  application.trainer().Save(folder_);
  auto feed = std::make_shared<BatchFeed>(task.data().test, settings,
                                          application.trainer().layout().places(), 0, 60, 1);
  const int64_t batches = feed->batches_per_epoch();
  const parallel::EvaluationResult want =
      application.trainer().Evaluate(batches, BatchFeed::Fn(std::move(feed)));
  const TeamSizeGuard team(1);  // as a rank's
  const EvaluateResult got = Evaluate({.model = settings.model,
                                       .init = folder_,
                                       .data = settings.data,
                                       .data_dir = settings.data_dir});
  EXPECT_EQ(got.classes->counts.total(), want.samples);
  EXPECT_EQ(got.classes->counts.correct(), want.correct);
  // All 20 images at once in both, so the logits are the same bits, and so are the sums of their
  // losses: what is left are the single roundings of the two means.
  EXPECT_NEAR(got.classes->loss, want.loss, Tolerance(DType::kF32, 0, want.loss));
}

}  // namespace
}  // namespace torus::recipes::testing
