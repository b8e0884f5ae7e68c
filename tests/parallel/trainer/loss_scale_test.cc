// The scale of the loss: found by halving and doubling, the same on all ranks, without a trace in
// the weights but for what f16 would lose.
#include "parallel/trainer/loss_scale.h"

#include <gtest/gtest.h>

#include <bit>
#include <filesystem>

#include "parallel/trainer/checkpoint.h"
#include "runtime/error.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

TEST(LossScale, HalvesOnASkippedStepAndDoublesAfterManyGoodOnes) {
  LossScale scale(8, 3);
  EXPECT_TRUE(scale.Update(true));
  EXPECT_EQ(scale.value(), 4);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(scale.Update(false));
  EXPECT_EQ(scale.value(), 8);
  EXPECT_TRUE(scale.Update(false));
  EXPECT_TRUE(scale.Update(false));
  EXPECT_TRUE(scale.Update(true));  // the good steps count anew
  EXPECT_TRUE(scale.Update(false));
  EXPECT_TRUE(scale.Update(false));
  EXPECT_EQ(scale.value(), 4);
}

TEST(LossScale, StaysBetweenOneAndTheLargest) {
  LossScale small(1, 1), large(LossScale::kLargest, 1);
  EXPECT_FALSE(small.Update(true));
  EXPECT_EQ(small.value(), 1);
  EXPECT_TRUE(large.Update(false));
  EXPECT_EQ(large.value(), LossScale::kLargest);
}

TEST(LossScale, RefusesWhatIsNoScale) {
  EXPECT_THROW(LossScale(0), BadInput);
  EXPECT_THROW(LossScale(3), BadInput);
  EXPECT_THROW(LossScale(2 * LossScale::kLargest), BadInput);
  EXPECT_THROW(LossScale(8, 0), BadInput);
  EXPECT_THROW(LossScale().SetState({8, -1}), BadInput);
}

// x; its gradient, times `factor`, goes through f16 and back.
Variable GradientInF16(const Variable& x, double factor) {
  return Record("gradient_in_f16", x.data().Clone(), {x}, [factor](const GradContext& g) {
    Tensor d = g.grad().Clone();
    ScaleInPlace(d, factor);
    d = d.To(DType::kF16).To(DType::kF64);
    ScaleInPlace(d, 1 / factor);
    return Gradients{d};
  });
}

// Behind the first block, gradients go through f16; factor 0: they do not.
TrainingParts PartsWith(const ToyRun& run, double factor) {
  TrainingParts parts = run.Parts();
  if (factor == 0) return parts;
  parts.model = [factor, count = run.blocks] {
    std::vector<Block> blocks = ToyModel(count, false);
    blocks[0].forward = [factor, inner = blocks[0].forward](const std::vector<Variable>& x,
                                                            const StepContext& c) {
      return std::vector<Variable>{GradientInF16(inner(x, c)[0], factor)};
    };
    return blocks;
  };
  return parts;
}

struct Trained {
  TrainState state;
  int64_t skipped = 0;
};

Trained TrainWith(const ToyRun& run, double factor, int64_t steps) {
  Trainer trainer(run.options, PartsWith(run, factor));
  trainer.Train(steps, run.Batches());
  EXPECT_EQ(trainer.totals().loss_scale, trainer.State().loss_scale.value);
  return {trainer.State(), trainer.totals().skipped_steps};
}

ToyRun RunOf(int stages, int replicas, double clip_norm = 0) {
  ToyRun run;
  run.options = {
      .stages = stages, .replicas = replicas, .micro_batches = 2, .clip_norm = clip_norm};
  return run;
}

// Powers of two change no digit.
TEST(LossScale, LeavesTheBitsOfARunThatLosesNothing) {
  for (const int stages : {1, 3})
    for (const int replicas : {1, 2})
      for (const double clip : {0.0, 0.01}) {
        ToyRun run = RunOf(stages, replicas, clip);
        const TrainState plain = TrainWith(run, 0, 6).state;
        EXPECT_EQ(plain.loss_scale.value, 0);
        run.options.loss_scale.emplace(4096, 2);
        const TrainState scaled = TrainWith(run, 0, 6).state;
        ExpectEqualBits(plain.weights, scaled.weights);
        ExpectEqualBits(plain.optimizer, scaled.optimizer);
        EXPECT_EQ(scaled.loss_scale.value, 4096 * 8);
      }
}

// Gradients that are too small for f16 vanish there, unless the loss is scaled.
TEST(LossScale, KeepsSmallGradients) {
  const double factor = 0x1p-24;
  ToyRun run = RunOf(2, 1);
  const std::string first = TrainWith(run, 0, 0).state.weights[0].name;
  const auto weight = [&](const Trained& trained) {
    return ToVector<double>(trained.state.weights[0].value);
  };
  const auto before = weight(TrainWith(run, 0, 0)), exact = weight(TrainWith(run, 0, 1));
  EXPECT_EQ(weight(TrainWith(run, factor, 1)), before);
  run.options.loss_scale.emplace(LossScale::kLargest);
  const auto scaled = weight(TrainWith(run, factor, 1));
  for (size_t i = 0; i < exact.size(); ++i) {
    // f16 rounds each term of the sum over the batch once, to eleven bits.
    double largest = 0;
    for (size_t j = 0; j < exact.size(); ++j)
      largest = std::max(largest, std::abs(exact[j] - before[j]));
    EXPECT_NEAR(scaled[i], exact[i], 0x1p-11 * 12 * largest) << first << " " << i;
  }
}

// Steps whose gradients overflow halve the scale on all ranks, and are no reason to give up.
TEST(LossScale, IsFoundByItself) {
  for (const int stages : {1, 2})
    for (const int replicas : {1, 2}) {
      ToyRun run = RunOf(stages, replicas);
      run.options.max_skipped = 1;
      run.options.loss_scale.emplace(LossScale::kLargest);
      const Trained trained = TrainWith(run, 1, 20);
      EXPECT_GE(trained.skipped, 2);
      EXPECT_EQ(trained.state.loss_scale.value, LossScale::kLargest >> trained.skipped);
      EXPECT_GE(trained.state.loss_scale.good_steps, 1);
    }
}

TEST(LossScale, OfOneThatOverflowsEndsTheRun) {
  ToyRun run = RunOf(2, 1);
  run.options.max_skipped = 2;
  run.options.loss_scale.emplace(4);
  Trainer trainer(run.options, PartsWith(run, 1e30));
  EXPECT_THROW(trainer.Train(20, run.Batches()), TooManySkipped);
  EXPECT_EQ(trainer.step(), 4);  // two that halve the scale to 1, two at 1
}

// In memory and by way of files, into another number of stages.
TEST(LossScale, GoesOnWithItsState) {
  ToyRun run = RunOf(1, 1);
  run.options.loss_scale.emplace(1024, 4);
  const Trained whole = TrainWith(run, 0, 10);
  EXPECT_EQ(whole.state.loss_scale.value, 4096);
  EXPECT_EQ(whole.state.loss_scale.good_steps, 2);
  const Trained half = TrainWith(run, 0, 6);
  const std::string folder = ::testing::TempDir() + "/loss_scale/checkpoint";
  std::filesystem::create_directories(::testing::TempDir() + "/loss_scale");
  SaveCheckpoint(folder, half.state);
  for (const TrainState& state : {half.state, LoadCheckpoint(folder)}) {
    ToyRun other = RunOf(2, 1);
    other.options.loss_scale.emplace(1024, 4);
    Trainer trainer(other.options, other.Parts());
    trainer.SetState(SourceOf(state));
    trainer.Train(10, other.Batches());
    const TrainState after = trainer.State();
    ExpectEqualBits(after.weights, whole.state.weights);
    EXPECT_EQ(after.loss_scale.value, whole.state.loss_scale.value);
    EXPECT_EQ(after.loss_scale.good_steps, whole.state.loss_scale.good_steps);
  }
}

}  // namespace
}  // namespace torus::parallel
