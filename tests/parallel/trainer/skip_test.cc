// Steps that are not finite on some rank: all ranks skip them, nothing changes, and the run gives
// up after too many in a row.
#include <gtest/gtest.h>

#include <limits>

#include "parallel/codec/make_codec.h"
#include "runtime/error.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kBadStep = 3;
constexpr int kBlocks = 4;

// x; with the gradient times `factor`.
Variable ScaleGradient(const Variable& x, double factor) {
  return Record("scale_gradient", x.data().Clone(), {x}, [factor](const GradContext& g) {
    Tensor d = g.grad().Clone();
    ScaleInPlace(d, factor);
    return Gradients{d};
  });
}

// Where a value is made infinite, and for how many steps.
struct Fault {
  int block = -1;      // behind it the gradient is; -1: none
  bool loss = false;   // the loss is, its gradient is not
  int64_t steps = 1;   // from kBadStep on
  int64_t sample = 0;  // in whose micro-batch
};

bool Strikes(const Fault& fault, const StepContext& context) {
  return context.training && context.step >= kBadStep && context.step < kBadStep + fault.steps &&
         std::ranges::count(context.samples, fault.sample) > 0;
}

TrainingParts PartsWith(const ToyRun& run, const Fault& fault) {
  TrainingParts parts = run.Parts();
  parts.model = [fault, f32 = run.f32] {
    std::vector<Block> blocks = ToyModel(kBlocks, f32);
    if (fault.block >= 0)
      blocks[fault.block].forward = [fault, inner = blocks[fault.block].forward](
                                        const std::vector<Variable>& x, const StepContext& c) {
        const Variable y = inner(x, c)[0];
        return std::vector<Variable>{Strikes(fault, c) ? ScaleGradient(y, kInfinity) : y};
      };
    return blocks;
  };
  return parts;
}

// An infinite target makes an infinite loss; the loss below gives it a gradient of zeros.
BatchFn BatchesWith(const ToyRun& run, const Fault& fault) {
  return [good = run.Batches(), fault](int64_t step, const RankPlace& place) {
    MiniBatch batch = good(step, place);
    if (!fault.loss || step < kBadStep || step >= kBadStep + fault.steps) return batch;
    for (MicroBatch& micro : batch.micro_batches)
      if (!micro.targets.empty() && std::ranges::count(micro.samples, fault.sample) > 0)
        micro.targets[0] = Full(micro.targets[0].shape(), kInfinity, DType::kF64);
    return batch;
  };
}

Variable LossOrInfinity(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
  if (std::isfinite(targets[0].data<double>()[0])) return ToyLoss(outputs, targets);
  return Record("infinite_loss", Full(Shape{}, kInfinity, DType::kF64), {outputs[0]},
                [shape = outputs[0].shape()](const GradContext&) {
                  return Gradients{Zeros(shape, DType::kF64)};
                });
}

// All that is saved after `steps` steps, and which of them were skipped.
struct Trained {
  TrainState state;
  std::vector<int64_t> skipped;
  int64_t counted = 0;
};

Trained TrainWith(const ToyRun& run, const Fault& fault, int64_t steps) {
  TrainingParts parts = PartsWith(run, fault);
  parts.loss = LossOrInfinity;
  Trainer trainer(run.options, parts);
  Trained trained;
  trainer.Train(steps, BatchesWith(run, fault), {.on_step = [&](const StepReport& report) {
                  if (report.skipped) trained.skipped.push_back(report.step);
                }});
  trained.state = trainer.State();
  trained.counted = trainer.totals().skipped_steps;
  return trained;
}

void ExpectSameState(const TrainState& a, const TrainState& b) {
  ExpectEqualBits(a.weights, b.weights);  // with the running statistics
  ExpectEqualBits(a.optimizer, b.optimizer);
  ExpectEqualBits(a.averages, b.averages);
}

TEST(Skip, AStepThatIsNotFiniteOnOneRankChangesNothingOnAny) {
  for (const int stages : {1, 2, 3})
    for (const int replicas : {1, 2})
      for (const double clip : {0.0, 0.5}) {
        ToyRun run;
        run.options = {.stages = stages,
                       .replicas = replicas,
                       .micro_batches = 2,
                       .clip_norm = clip,
                       .ema_decay = 0.5};
        const Trained before = TrainWith(run, {}, kBadStep);
        EXPECT_TRUE(before.skipped.empty());
        for (const Fault& fault : {Fault{.block = 0}, Fault{.block = kBlocks - 1, .sample = 11},
                                   Fault{.loss = true}, Fault{.loss = true, .sample = 11}}) {
          SCOPED_TRACE(fmt::format("{} stages, {} replicas, clip {}, block {}, sample {}", stages,
                                   replicas, clip, fault.block, fault.sample));
          const Trained after = TrainWith(run, fault, kBadStep + 1);
          EXPECT_EQ(after.skipped, std::vector<int64_t>{kBadStep});
          EXPECT_EQ(after.counted, 1);
          EXPECT_EQ(after.state.step, kBadStep + 1);
          ExpectSameState(before.state, after.state);
        }
      }
}

TEST(Skip, TrainingGoesOnBehindIt) {
  ToyRun run;
  run.options = {.stages = 2, .replicas = 2, .micro_batches = 2};
  const Trained trained = TrainWith(run, {.block = 1, .steps = 2}, 8);
  EXPECT_EQ(trained.skipped, (std::vector<int64_t>{kBadStep, kBadStep + 1}));
  for (const NamedTensor& weight : trained.state.weights)
    for (const double value : ToVector<double>(weight.value)) EXPECT_TRUE(std::isfinite(value));
  EXPECT_NE(ToVector<double>(trained.state.weights[0].value),
            ToVector<double>(TrainWith(run, {}, kBadStep).state.weights[0].value));
}

TEST(Skip, TooManyInARowEndTheRunInOrder) {
  ToyRun run;
  run.options = {.stages = 2, .replicas = 2, .micro_batches = 2, .max_skipped = 3};
  const Trained before = TrainWith(run, {}, kBadStep);
  const Fault fault{.block = 2, .steps = 5};
  Trainer trainer(run.options, PartsWith(run, fault));
  // They are counted over several calls.
  for (int64_t end = 1; end < kBadStep + 3; ++end) trainer.Train(end, run.Batches());
  try {
    trainer.Train(20, run.Batches());
    FAIL();
  } catch (const TooManySkipped& e) {
    EXPECT_STREQ(e.what(),
                 "[trainer] gave up after 3 steps in a row, 3 to 5, whose loss or gradients were "
                 "not finite; they changed nothing");
  }
  EXPECT_EQ(trainer.step(), kBadStep + 3);
  ExpectSameState(before.state, trainer.State());
  trainer.Train(20, run.Batches());  // the two bad steps that are left do not end it
  EXPECT_EQ(trainer.step(), 20);
  EXPECT_EQ(trainer.totals().skipped_steps, 5);
}

// What crosses the cut is infinite; the block behind the cut makes finite values of it again.
void TrainWhatACodecCannotCarry(bool encodes_beside) {
  ToyRun run;
  run.f32 = true;
  run.options = {.stages = 2, .cuts = {2}, .micro_batches = 2, .encodes_beside = encodes_beside};
  run.options.codec = [] { return MakeCodec("sortq:16"); };
  TrainingParts parts = run.Parts();
  parts.model = [] {
    std::vector<Block> blocks = ToyModel(kBlocks, true);
    blocks[1].forward = [inner = blocks[1].forward](const std::vector<Variable>& x,
                                                    const StepContext& c) {
      Variable y = inner(x, c)[0];
      if (Strikes({}, c)) y = Variable(Full(y.shape(), kInfinity, DType::kF32), true);
      return std::vector<Variable>{y};
    };
    blocks[2].forward = [inner = blocks[2].forward](const std::vector<Variable>& x,
                                                    const StepContext& c) {
      bool bad = false;
      Dispatch("is_bad", x[0].data().device(),
               [&] { bad = !std::isfinite(x[0].data().data<float>()[0]); });
      return inner(bad ? std::vector<Variable>{Variable(Zeros(x[0].shape()), true)} : x, c);
    };
    return blocks;
  };
  Trainer trainer(run.options, parts);
  trainer.Train(kBadStep, run.Batches());
  const TrainState before = trainer.State();
  trainer.Train(kBadStep + 1, run.Batches());
  EXPECT_EQ(trainer.totals().skipped_steps, 1);
  ExpectSameState(before, trainer.State());
  trainer.Train(kBadStep + 3, run.Batches());
  EXPECT_EQ(trainer.totals().skipped_steps, 1);
}

TEST(Skip, WhatACodecCannotCarrySkipsTheStepToo) { TrainWhatACodecCannotCarry(false); }

TEST(Skip, AndWhatAnEncoderBesideTheRankCannotCarry) { TrainWhatACodecCannotCarry(true); }

}  // namespace
}  // namespace torus::parallel
