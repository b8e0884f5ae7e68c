// Codecs in training: which cut and direction has which, the warm-up, and what they remember.
#include <gtest/gtest.h>

#include <filesystem>

#include "parallel/trainer/checkpoint.h"
#include "runtime/error.h"
#include "tests/parallel/trainer/f32_model.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

ToyRun CodedRun(const std::string& codec, int stages = 2) {
  ToyRun run;
  run.f32 = true;
  run.options = {.stages = stages, .micro_batches = 2, .seed = 3};
  run.options.codec = Named(codec);
  return run;
}

// Batches whose rows are the same examples in every second step.
BatchFn Numbered(const ToyRun& run) {
  return [batches = run.Batches()](int64_t step, const RankPlace& place) {
    MiniBatch batch = batches(step, place);
    for (MicroBatch& part : batch.micro_batches)
      for (const int64_t sample : part.samples) part.examples.push_back(100 * (step % 2) + sample);
    return batch;
  };
}

Outcome Train(const ToyRun& run, int64_t steps, const TrainState& from = {}) {
  Trainer trainer(run.options, run.Parts());
  if (from.step > 0) trainer.SetState(SourceOf(from));
  Outcome outcome;
  trainer.Train(steps, Numbered(run),
                {.on_step = [&](const StepReport& r) { outcome.losses.push_back(r.loss); }});
  outcome.state = trainer.State();
  return outcome;
}

const char* const kRemembering[] = {"ef(topk:0.3)", "ef(powersgd:1+f16)", "delta(uniform:3)",
                                    "ef(delta(uniform:3))", "ef(uniform:2:stochastic)"};

TEST(CodecMemories, ARunThatGoesOnGivesTheBitsOfOneThatNeverStopped) {
  for (const std::string codec : kRemembering) {
    SCOPED_TRACE(codec);
    ToyRun run = CodedRun(codec);
    run.options.replicas = 2;
    const Outcome whole = Train(run, 10), part = Train(run, 5);
    EXPECT_FALSE(part.state.codecs.empty());
    const Outcome rest = Train(run, 10, part.state);
    ExpectEqualBits(whole.state.weights, rest.state.weights);
    ExpectEqualBits(whole.state.codecs, rest.state.codecs);
  }
}

// A checkpoint is followed by steps that are lost with the run; what they have written to the files
// leaves the checkpoint's rows there.
TEST(CodecMemories, OfSamplesMayLieInFiles) {
  for (const char* codec : {"delta(uniform:3)", "ef(delta(uniform:3))"}) {
    SCOPED_TRACE(codec);
    ToyRun run = CodedRun(codec);
    run.options.replicas = 2;
    const Outcome in_memory = Train(run, 12);
    run.options.codec_folder = ::testing::TempDir() + "/codec_folder";
    const Outcome whole = Train(run, 12);
    EXPECT_EQ(whole.losses, in_memory.losses);
    ExpectEqualBits(whole.state.weights, in_memory.state.weights);
    for (const NamedTensor& tensor : whole.state.codecs) {
      EXPECT_EQ(tensor.name.find("sample"), std::string::npos) << tensor.name;
      const bool residual = tensor.name.ends_with("/residual");
      EXPECT_TRUE(residual || tensor.value.numel() <= 4) << tensor.name << " says which file it is";
    }

    const Outcome part = Train(run, 6);
    ExpectEqualBits(Train(run, 12, part.state).state.weights, whole.state.weights);
    // The same once more, from files that have gone further.
    ExpectEqualBits(Train(run, 12, part.state).state.weights, whole.state.weights);
    // Without its files it is another run: samples go whole again.
    std::filesystem::remove_all(run.options.codec_folder);
    EXPECT_NE(Train(run, 12, part.state).losses.back(), whole.losses.back());
  }
}

TEST(CodecMemories, MatterToTheRun) {
  const ToyRun run = CodedRun("ef(topk:0.3)");
  TrainState part = Train(run, 5).state;
  const Outcome whole = Train(run, 10);
  part.codecs.clear();
  EXPECT_NE(Train(run, 10, part).losses.back(), whole.losses.back());
}

// What was remembered at one place in the model is not taken for that of another.
TEST(CodecMemories, StayWithTheirPlaceInTheModel) {
  for (const char* codec : {"ef(topk:0.3)", "delta(uniform:3)"}) {
    SCOPED_TRACE(codec);
    ToyRun run = CodedRun(codec);
    run.options.cuts = {1};
    TrainState part = Train(run, 5).state;
    EXPECT_FALSE(part.codecs.empty());
    run.options.cuts = {2};
    const Outcome moved = Train(run, 10, part);
    part.codecs.clear();
    ExpectEqualBits(Train(run, 10, part), moved);
  }
  // The second of two cuts becomes the only one, and keeps its memory.
  ToyRun run = CodedRun("ef(topk:0.3)", 3);
  run.options.cuts = {1, 2};
  TrainState part = Train(run, 5).state;
  run.options.stages = 2;
  run.options.cuts = {2};
  const Outcome kept = Train(run, 10, part);
  part.codecs.clear();
  EXPECT_NE(Train(run, 10, part).losses.back(), kept.losses.back());
}

// Gradients between stages have the scale of the loss; what is remembered of them has not.
TEST(CodecMemories, HaveNotTheScaleOfTheLoss) {
  for (const char* codec : {"ef(topk:0.3)", "delta(uniform:3)"}) {
    SCOPED_TRACE(codec);
    ToyRun run = CodedRun(codec);
    const Outcome plain = Train(run, 9);
    run.options.loss_scale = LossScale(1024, 2);  // doubles every second step
    const Outcome scaled = Train(run, 9);
    EXPECT_EQ(scaled.losses, plain.losses);
    ExpectEqualBits(scaled.state.weights, plain.state.weights);
  }
}

TEST(CodecMemories, GoThroughCheckpoints) {
  ToyRun run = CodedRun("ef(topk:0.3)", 3);
  run.options.replicas = 2;
  Trainer trainer(run.options, run.Parts());
  trainer.Train(3, run.Batches());
  const std::string folder = ::testing::TempDir() + "/codec_memories";
  trainer.Save(folder);
  const TrainState state = trainer.State();
  EXPECT_FALSE(state.codecs.empty());
  std::map<std::string, std::vector<float>> want, got;
  for (const NamedTensor& tensor : state.codecs) want[tensor.name] = ToVector<float>(tensor.value);
  for (const NamedTensor& tensor : LoadCheckpoint(folder).codecs)
    got[tensor.name] = ToVector<float>(tensor.value);
  EXPECT_EQ(got, want);
  EXPECT_TRUE(want.contains("replica 1/activation before block 2 sent/0/residual"));
  EXPECT_TRUE(want.contains("replica 0/gradient before block 1 sent/0/residual"));
}

TEST(Codecs, ThatRememberNothingHaveNoState) {
  EXPECT_TRUE(Train(CodedRun("sortq:8"), 2).state.codecs.empty());
}

// In the warm-up no tensor is changed, so the losses are those of no codec.
TEST(Codecs, BeginBehindTheWarmUp) {
  const std::vector<double> plain = Train(CodedRun("none"), 8).losses;
  ToyRun run = CodedRun("topk:0.2");
  run.options.codec_warmup = 4;
  const std::vector<double> warm = Train(run, 8).losses;
  // The fourth step is the last whose gradients were whole; the fifth's loss is behind the codec.
  for (int step = 0; step < 4; ++step) EXPECT_EQ(warm[step], plain[step]) << step;
  EXPECT_NE(warm[4], plain[4]);
  run.options.codec_warmup = 8;
  EXPECT_EQ(Train(run, 8).losses, plain);
}

TEST(Codecs, OfTheGradientsAlone) {
  ToyRun run = CodedRun("none");
  run.options.gradient_codec = Named("topk:0.2");
  const std::vector<double> plain = Train(CodedRun("none"), 4).losses, coded = Train(run, 4).losses;
  EXPECT_EQ(coded[0], plain[0]) << "the first forward is whole";
  EXPECT_NE(coded[1], plain[1]);
}

TEST(Codecs, ByCut) {
  const std::vector<double> plain = Train(CodedRun("none", 3), 4).losses;
  ToyRun run = CodedRun("topk:0.2", 3);
  for (int cut : {1, 2})
    run.options.codec_at[cut] = run.options.gradient_codec_at[cut] = Named("none");
  EXPECT_EQ(Train(run, 4).losses, plain);
  run.options.codec_at.erase(1);
  EXPECT_NE(Train(run, 4).losses, plain);
}

// Random numbers depend on seed, link, step and micro-batch: the same again, and others elsewhere.
TEST(Codecs, RandomOnesAreRepeated) {
  const ToyRun run = CodedRun("uniform:2:stochastic");
  const Outcome one = Train(run, 4);
  ExpectEqualBits(one, Train(run, 4));
  ToyRun other = run;
  other.options.seed = 4;
  EXPECT_NE(Train(other, 4).losses, one.losses);
}

}  // namespace
}  // namespace torus::parallel
