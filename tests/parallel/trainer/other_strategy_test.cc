// Runs that go on with another strategy than their state is of.
#include <gtest/gtest.h>

#include "tests/parallel/trainer/f32_model.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

ToyRun RunOf(const std::string& strategy, int replicas = 3) {
  ToyRun run;
  run.f32 = true;
  run.options = {.replicas = replicas, .strategy = strategy, .seed = 3};
  return run;
}

TrainState Train(const ToyRun& run, int64_t steps, const TrainState& from = {}) {
  Trainer trainer(run.options, PartsOfF32(run));
  if (from.step > 0) trainer.SetState(from);
  trainer.Train(steps, run.Batches());
  return trainer.State();
}

// Gradients have another size than differences of weights: what a codec has left of one must not be
// added to the other.
TEST(OtherStrategy, ForgetsWhatACodecHasLeftOfAnotherQuantity) {
  ToyRun before = RunOf("ddp"), after = RunOf("diloco:2");
  for (ToyRun* run : {&before, &after}) run->options.reduce_codec = Named("ef(topk:0.3)");
  const TrainState state = Train(before, 4);
  ASSERT_FALSE(state.codecs.empty());
  TrainState forgotten = state;
  forgotten.codecs.clear();
  const TrainState got = Train(after, 8, state), want = Train(after, 8, forgotten);
  ExpectEqualBits(got.weights, want.weights);
  ExpectEqualBits(got.codecs, want.codecs);
  EXPECT_FALSE(got.codecs.empty());
}

// Gossip's replicas are apart after each step; a round of the others begins with equal ones.
TEST(OtherStrategy, BeginsARoundWithTheMeanOfGossip) {
  const TrainState state = Train(RunOf("gossip:ring"), 4);
  const ToyRun equal = RunOf("ddp");
  Trainer mean(equal.options, PartsOfF32(equal));
  mean.SetWeights(state.weights);
  const double loss = mean.Evaluate(2, equal.Batches()).loss;
  for (const char* strategy : {"local-sgd:8", "diloco:8"}) {
    SCOPED_TRACE(strategy);
    const ToyRun run = RunOf(strategy);
    Trainer trainer(run.options, PartsOfF32(run));
    trainer.SetState(state);
    ExpectEqualBits(trainer.State().weights, state.weights);
    EXPECT_EQ(trainer.Evaluate(2, run.Batches()).loss, loss);
  }
}

// And gossip takes up the replicas of the middle of a round where they are.
TEST(OtherStrategy, GossipGoesOnWithReplicasThatAreApart) {
  const TrainState state = Train(RunOf("local-sgd:8"), 3);
  const ToyRun run = RunOf("gossip:ring");
  Trainer trainer(run.options, PartsOfF32(run));
  trainer.SetState(state);
  ExpectEqualBits(trainer.State().weights, state.weights);
  int64_t found = 0;
  const TrainState taken = trainer.State();
  for (const NamedTensor& now : taken.replicas)
    for (const NamedTensor& then : state.replicas)
      if (now.name == then.name && now.name.find("/weights/") != std::string::npos) {
        EXPECT_EQ(ToVector<float>(now.value), ToVector<float>(then.value)) << now.name;
        ++found;
      }
  EXPECT_EQ(found, 3 * 4) << "four weights of three replicas";
}

}  // namespace
}  // namespace torus::parallel
