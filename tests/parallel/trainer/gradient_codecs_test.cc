// Codecs of the gradients that replicas sum: what runs become, what they remember, what they send.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/error.h"
#include "tests/parallel/trainer/f32_model.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

constexpr int64_t kBadStep = 3;
const char* const kCodecs[] = {"uniform:8", "uniform:4:stochastic", "ef(topk:0.3)",
                               "ef(powersgd:1)", "powersgd:1+f16"};

ToyRun RunOf(int replicas, int stages = 1) {
  ToyRun run;
  run.f32 = true;
  run.options = {.stages = stages, .replicas = replicas, .micro_batches = 2, .seed = 3};
  run.options.bucket_bytes = 200;  // a weight has 144
  return run;
}

Outcome Train(const ToyRun& run, int64_t steps, const TrainState& from = {}) {
  Trainer trainer(run.options, PartsOfF32(run));
  if (from.step > 0) trainer.SetState(SourceOf(from));
  Outcome outcome;
  trainer.Train(steps, run.Batches(),
                {.on_step = [&](const StepReport& r) { outcome.losses.push_back(r.loss); }});
  outcome.state = trainer.State();
  return outcome;
}

// Of two runs' weights, all of them together: the root of the sum of squares.
double Distance(const Outcome& a, const Outcome& b) {
  double sum = 0;
  for (size_t i = 0; i < a.state.weights.size(); ++i) {
    const auto x = ToVector<float>(a.state.weights[i].value),
               y = ToVector<float>(b.state.weights[i].value);
    for (size_t k = 0; k < x.size(); ++k) sum += (x[k] - y[k]) * (x[k] - y[k]);
  }
  return std::sqrt(sum);
}

TEST(GradientCodecs, TrainAndGoOnFromACheckpoint) {
  for (const std::string codec : kCodecs) {
    SCOPED_TRACE(codec);
    ToyRun run = RunOf(3, 2);
    const Outcome plain = Train(run, 10);
    run.options.reduce_codec = Named(codec);
    const Outcome whole = Train(run, 10), part = Train(run, 5);
    EXPECT_EQ(whole.losses[0], plain.losses[0]);
    EXPECT_NE(whole.losses[9], plain.losses[9]);
    // It goes where the run without a codec goes: weights that stay behind have a ratio of one.
    const double way = Distance(Train(run, 0), plain);
    EXPECT_LT(Distance(whole, plain), 0.5 * way);
    const Outcome rest = Train(run, 10, part.state);
    ExpectEqualBits(rest.state.weights, whole.state.weights);
    ExpectEqualBits(rest.state.codecs, whole.state.codecs);
    EXPECT_EQ(part.state.codecs.empty(), codec.starts_with("uniform"));
  }
}

TEST(GradientCodecs, BeginAfterTheWarmUp) {
  for (const char* codec : {"ef(topk:0.3)", "powersgd:1"}) {
    SCOPED_TRACE(codec);
    ToyRun run = RunOf(3);
    const Outcome plain = Train(run, 8);
    run.options.reduce_codec = Named(codec);
    run.options.codec_warmup = 4;
    const Outcome late = Train(run, 8), before = Train(run, 4);
    ExpectEqualBits(before.state.weights, Train(RunOf(3), 4).state.weights);
    EXPECT_TRUE(before.state.codecs.empty());
    // The fifth loss is of weights that four steps without the codec have made.
    EXPECT_TRUE(std::equal(plain.losses.begin(), plain.losses.begin() + 5, late.losses.begin()));
    EXPECT_NE(late.losses[5], plain.losses[5]);
    ExpectEqualBits(Train(run, 8, before.state).state.weights, late.state.weights);
  }
}

TEST(GradientCodecs, NeedReplicasThatSumAlone) {
  ToyRun run = RunOf(2);
  run.options.reduce_codec = Named("f16");
  run.options.strategy = "zero1";
  EXPECT_THROW(Train(run, 1), BadInput);
  run.options.strategy = "ddp";
  run.options.collectives = "ring";
  EXPECT_THROW(Train(run, 1), BadInput);
}

// A scale that is a power of two changes no bit, since residuals are kept without it: not even
// where it changes between two steps.
TEST(GradientCodecs, RememberGradientsWithoutTheScaleOfTheLoss) {
  for (const char* codec : {"ef(topk:0.3)", "ef(powersgd:1)", "ef(uniform:3)"}) {
    SCOPED_TRACE(codec);
    ToyRun run = RunOf(2);
    run.options.reduce_codec = Named(codec);
    const Outcome plain = Train(run, 9);
    run.options.loss_scale = LossScale(1024, 2);  // doubles every second step
    const Outcome scaled = Train(run, 9);
    EXPECT_EQ(scaled.losses, plain.losses);
    ExpectEqualBits(scaled.state.weights, plain.state.weights);
  }
}

// Of a step whose loss is infinite on one rank alone, though all gradients are finite.
BatchFn BatchesWithABadStep(const ToyRun& run) {
  return [good = run.Batches()](int64_t step, const RankPlace& place) {
    MiniBatch batch = good(step, place);
    const bool bad = step == kBadStep && place.last && place.replica == 1;
    if (bad)
      batch.micro_batches[1].targets[0] =
          Full(batch.micro_batches[1].targets[0].shape(), std::numeric_limits<double>::infinity(),
               DType::kF64);
    return batch;
  };
}

Variable LossOrInfinity(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
  const double first = targets[0].data<double>()[0];
  if (std::isfinite(first)) return ToyLoss(outputs, targets);
  return Record("infinite_loss", Full(Shape{}, first, DType::kF64), {outputs[0]},
                [shape = outputs[0].shape()](const GradContext&) {
                  return Gradients{Full(shape, 0.25, DType::kF64)};
                });
}

TrainState StateAfter(const ToyRun& run, int64_t steps, bool bad) {
  TrainingParts parts = PartsOfF32(run);
  parts.loss = LossOrInfinity;
  Trainer trainer(run.options, parts);
  trainer.Train(steps, bad ? BatchesWithABadStep(run) : run.Batches());
  EXPECT_EQ(trainer.totals().skipped_steps, bad && steps > kBadStep ? 1 : 0);
  return trainer.State();
}

TEST(CodecMemories, AreThoseBeforeAStepThatSomeRankMakesAllSkip) {
  for (const bool between_replicas : {true, false})
    for (const char* codec : {"ef(topk:0.3)", "ef(powersgd:1)", "powersgd:1"}) {
      SCOPED_TRACE(fmt::format("{}, between replicas {}", codec, between_replicas));
      ToyRun run = RunOf(2, 2);
      (between_replicas ? run.options.reduce_codec : run.options.codec) = Named(codec);
      for (const bool beside : {false, true}) {
        run.options.encodes_beside = beside;
        const TrainState before = StateAfter(run, kBadStep, false);
        const TrainState skipped = StateAfter(run, kBadStep + 1, true);
        const TrainState taken = StateAfter(run, kBadStep + 1, false);
        ASSERT_FALSE(before.codecs.empty());
        ExpectEqualBits(skipped.codecs, before.codecs);
        bool changed = false;
        for (size_t i = 0; i < before.codecs.size(); ++i)
          changed = changed || ToVector<float>(taken.codecs[i].value) !=
                                   ToVector<float>(before.codecs[i].value);
        EXPECT_TRUE(changed) << "a step that is taken changes them";
        if (between_replicas) break;
      }
    }
}

// In the very first step there is nothing to go back to.
TEST(CodecMemories, AreNoneAfterAFirstStepThatIsSkipped) {
  ToyRun run = RunOf(2);
  run.options.reduce_codec = Named("ef(topk:0.3)");
  TrainingParts parts = PartsOfF32(run);
  parts.loss = LossOrInfinity;
  Trainer trainer(run.options, parts);
  trainer.Train(1, [bad = BatchesWithABadStep(run)](int64_t step, const RankPlace& place) {
    return bad(step + kBadStep, place);
  });
  EXPECT_EQ(trainer.totals().skipped_steps, 1);
  EXPECT_TRUE(trainer.State().codecs.empty());
}

// Bytes sent, and what they would have been.
std::pair<uint64_t, uint64_t> AllReduced(const std::string& codec) {
  ToyRun run = RunOf(3);
  if (codec != "none") run.options.reduce_codec = Named(codec);
  Trainer trainer(run.options, PartsOfF32(run));
  trainer.Train(4, run.Batches());
  uint64_t sent = 0, uncompressed = 0;
  for (const LinkBytes& link : trainer.totals().links) {
    EXPECT_EQ(link.what, "all-reduce");
    sent += link.sent;
    uncompressed += link.uncompressed;
  }
  return {sent, uncompressed};
}

TEST(GradientCodecs, TotalsSayWhatWouldHaveBeenSentWithoutThem) {
  const auto [plain, same] = AllReduced("none");
  EXPECT_EQ(same, plain);
  // Four weights of 36 values in buckets of their own, each with one count; 3 replicas send 2 (3 -
  // 1) times their bytes in all.
  EXPECT_EQ(plain, 4u * 4 * 4 * 37 * 4);
  for (const char* codec : {"uniform:4", "ef(topk:0.1+f16)", "powersgd:1"})
    EXPECT_EQ(AllReduced(codec).second, plain) << codec;
  // Each to two others: 16 bytes of header, 8 of range, 18 of values, 4 of the count.
  EXPECT_EQ(AllReduced("uniform:4").first, 4u * 4 * 3 * 2 * (16 + 8 + 18 + 4));
  // P with the count, then Q.
  EXPECT_EQ(AllReduced("powersgd:1").first, 4u * 4 * 4 * (7 + 6) * 4);
}

}  // namespace
}  // namespace torus::parallel
