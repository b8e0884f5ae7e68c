// TrainerOptions::reproducible: the same bits whatever the number of replicas.
#include <gtest/gtest.h>

#include "parallel/trainer/gradient_tree.h"
#include "runtime/error.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using testing::ExpectEqualBits;
using testing::Outcome;
using testing::ToyRun;
using testing::TrainFor;

// As many micro-batches in all, whatever the replicas.
ToyRun RunOf(int replicas, int list, int64_t global) {
  ToyRun run;
  run.global = global;
  run.options = {.replicas = replicas,
                 .micro_batches = list / replicas,
                 .reproducible = true,
                 .clip_norm = 0.05,
                 .ema_decay = 0.5};
  return run;
}

// Batches of 21 and 20 samples; of 6 and 5, so that some micro-batches are empty.
TEST(Reproducible, AnyNumberOfReplicasGivesTheSameBits) {
  for (const int64_t global : {21, 6}) {
    const Outcome one = TrainFor(RunOf(1, 8, global), 6);
    for (const int replicas : {2, 4, 8}) {
      SCOPED_TRACE(fmt::format("{} samples, {} replicas", global, replicas));
      const Outcome many = TrainFor(RunOf(replicas, 8, global), 6);
      ExpectEqualBits(one, many);
      ExpectEqualBits(one.state.averages, many.state.averages);
    }
  }
}

TEST(Reproducible, ByEveryStrategyWhoseReplicasAgree) {
  const Outcome one = TrainFor(RunOf(1, 8, 21), 4);
  for (const char* strategy : {"dataparallel", "ps", "ps-sharded", "zero1"}) {
    SCOPED_TRACE(strategy);
    ToyRun run = RunOf(4, 8, 21);
    run.options.strategy = strategy;
    ExpectEqualBits(one, TrainFor(run, 4));
  }
  ToyRun none = RunOf(2, 8, 21);
  none.options.strategy = "none";
  EXPECT_THROW(TrainFor(none, 1), BadInput);
}

// It is what it says that makes them equal.
TEST(Reproducible, OtherwiseTheBitsDiffer) {
  ToyRun one = RunOf(1, 8, 21), four = RunOf(4, 8, 21);
  one.options.reproducible = four.options.reproducible = false;
  EXPECT_NE(ToVector<double>(TrainFor(one, 6).state.weights[4].value),
            ToVector<double>(TrainFor(four, 6).state.weights[4].value));
}

TEST(Reproducible, ThreeReplicasMayHaveAPowerOfTwoEach) {
  ExpectEqualBits(TrainFor(RunOf(1, 12, 21), 4), TrainFor(RunOf(3, 12, 21), 4));
  try {
    TrainFor(RunOf(2, 12, 21), 1);
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_NE(
        std::string(error.what()).find("1, 2, 4, 8, ... micro-batches of each replica, got 6"),
        std::string::npos)
        << error.what();
  }
}

TEST(Reproducible, EveryScheduleAndCutToo) {
  const Outcome one = TrainFor(RunOf(1, 8, 21), 4);
  for (const char* schedule : {"gpipe", "1f1b", "zb-h1"}) {
    ToyRun run = RunOf(2, 8, 21);
    run.options.stages = 3;
    run.options.schedule = schedule;
    ExpectEqualBits(one, TrainFor(run, 4));
  }
  ToyRun rounds = RunOf(2, 8, 21);  // two rounds of two
  rounds.options.micro_batches = 2;
  const BatchFn batches = RunOf(2, 8, 21).Batches();
  Trainer trainer(rounds.options, rounds.Parts());
  trainer.Train(4, batches);
  ExpectEqualBits(one.state.weights, trainer.State().weights);
}

TEST(Reproducible, ARunGoesOnWithOtherStagesAndReplicas) {
  ToyRun whole = RunOf(2, 8, 21), rest = RunOf(1, 8, 21), again = RunOf(4, 8, 21);
  whole.options.stages = again.options.stages = 2;
  rest.options.stages = 3;
  rest.options.schedule = "1f1b";
  const Outcome expected = TrainFor(whole, 9);
  Outcome outcome;
  const TrainHooks hooks{.on_step = [&](const StepReport& r) { outcome.losses.push_back(r.loss); }};
  for (const auto& [run, end] : {std::pair{whole, 3}, {rest, 5}, {again, 9}}) {
    Trainer trainer(run.options, run.Parts());
    if (end > 3) trainer.SetState(outcome.state);
    trainer.Train(end, run.Batches(), hooks);
    outcome.state = trainer.State();
  }
  ExpectEqualBits(expected, outcome);
  ExpectEqualBits(expected.state.averages, outcome.state.averages);
}

TEST(Reproducible, EvaluatesAlike) {
  std::vector<double> losses;
  for (const int replicas : {1, 2, 4}) {
    const ToyRun run = RunOf(replicas, 8, 21);
    Trainer trainer(run.options, run.Parts());
    losses.push_back(trainer.Evaluate(5, run.Batches()).loss);
  }
  EXPECT_EQ(losses, std::vector<double>(3, losses[0]));
}

// A gradient that is not there changes no bit, and stays away where no micro-batch has one.
TEST(GradientTree, SumsInPairs) {
  Variable a(Zeros(Shape{1}, DType::kF32), true), b(Zeros(Shape{1}, DType::kF32), true);
  GradientTree tree({{"a", a}, {"b", b}});
  const std::vector<float> terms = {1e8f, 1, -1e8f, 1, 3};
  for (int m = 0; m < 5; ++m) {
    if (m == 1) continue;
    a.SetGrad(Full(Shape{1}, terms[m], DType::kF32));
    tree.Take(m);
  }
  tree.Finish();
  EXPECT_EQ(ToVector<float>(a.grad()),
            std::vector<float>{(terms[0] + (terms[2] + terms[3])) + terms[4]});
  EXPECT_FALSE(b.grad().defined());
}

}  // namespace
}  // namespace torus::parallel
