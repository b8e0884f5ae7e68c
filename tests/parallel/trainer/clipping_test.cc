// Clipping by the norm of the whole gradient, wherever the model is cut.
#include "runtime/error.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using testing::ExpectEqualBits;
using testing::Outcome;
using testing::ToyRun;
using testing::TrainFor;

// Gradients of step 0 of the toy model, and their norm.
struct FirstStep {
  std::map<std::string, std::vector<double>> gradients;
  double norm = 0;
};

FirstStep WatchFirstStep() {
  FirstStep first;
  ToyRun run;
  run.options = {.micro_batches = 3, .seed = 5};
  run.options.on_gradients = [&](const RankPlace&, int64_t,
                                 const std::vector<NamedVariable>& parameters) {
    for (const NamedVariable& p : parameters)
      first.gradients[p.name] = ToVector<double>(p.value.grad());
  };
  TrainFor(run, 1);
  double squares = 0;
  for (const auto& [name, gradient] : first.gradients)
    for (const double g : gradient) squares += g * g;
  first.norm = std::sqrt(squares);
  return first;
}

TEST(Clipping, ScalesTheStepToTheNorm) {
  const FirstStep first = WatchFirstStep();
  ToyRun run;
  run.options = {.micro_batches = 3, .seed = 5, .clip_norm = first.norm / 4};
  const Outcome clipped = TrainFor(run, 1);
  const std::vector<Block> model = testing::ToyModel(4);
  // The first step of SGD is -0.1 x gradient x min(1, clip / (norm + 1e-6)).
  const double scale = first.norm / 4 / (first.norm + 1e-6);
  for (size_t b = 0; b < model.size(); ++b) {
    const NamedVariable& p = model[b].parameters[0];
    const std::vector<double> before = ToVector<double>(p.value.data());
    const std::vector<double> after = ToVector<double>(clipped.state.weights[b].value);
    ASSERT_EQ(clipped.state.weights[b].name, p.name);
    // Values below 1, a handful of roundings of f64.
    for (size_t i = 0; i < before.size(); ++i)
      EXPECT_NEAR(after[i], before[i] - 0.1 * scale * first.gradients.at(p.name)[i], 1e-15);
  }
}

TEST(Clipping, LeavesSmallGradientsAlone) {
  ToyRun run;
  run.options = {.micro_batches = 3, .seed = 5};
  const Outcome free = TrainFor(run, 4);
  run.options.clip_norm = 1e6;
  ExpectEqualBits(free, TrainFor(run, 4));
}

TEST(Clipping, EveryCutGivesTheSameBits) {
  ToyRun run;
  run.options = {.micro_batches = 3, .seed = 5, .clip_norm = WatchFirstStep().norm / 3};
  testing::ExpectEveryCutGivesTheSameBits(run);
}

TEST(Clipping, ReplicasTakeTheSameStep) {
  ToyRun run;
  run.options = {
      .stages = 2, .replicas = 3, .micro_batches = 2, .clip_norm = WatchFirstStep().norm / 3};
  testing::ExpectReplicasStayEqual(run, 6);
}

// The norm before clipping, in the same bits wherever the model is cut.
TEST(GradientNorm, IsReportedWhereItIsComputed) {
  const double norm = WatchFirstStep().norm;
  const auto reported = [](TrainerOptions options) {
    ToyRun run;
    options.micro_batches = 3;
    options.seed = 5;
    run.options = options;
    std::optional<double> first;
    Trainer trainer(run.options, run.Parts());
    trainer.Train(1, run.Batches(),
                  {.on_step = [&](const StepReport& step) { first = step.gradient_norm; }});
    return first;
  };
  EXPECT_FALSE(reported({}).has_value());
  const std::optional<double> alone = reported({.gradient_norm = true});
  ASSERT_TRUE(alone.has_value());
  // Sums of squares in other orders, in f64.
  EXPECT_NEAR(*alone, norm, 1e-12 * norm);
  EXPECT_EQ(reported({.clip_norm = norm / 3}), alone);
  EXPECT_EQ(reported({.stages = 2, .gradient_norm = true}), alone);
  EXPECT_EQ(reported({.stages = 2, .clip_norm = norm / 3}), alone);
}

TEST(GradientNorm, WithoutClippingChangesNoBits) {
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 3, .seed = 5};
  const Outcome without = TrainFor(run, 4);
  run.options.gradient_norm = true;
  ExpectEqualBits(without, TrainFor(run, 4));
}

TEST(Clipping, RefusesANegativeNorm) {
  ToyRun run;
  run.options.clip_norm = -1;
  EXPECT_THROW(TrainFor(run, 1), BadInput);
}

}  // namespace
}  // namespace torus::parallel
