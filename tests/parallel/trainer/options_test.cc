// Options that change time and memory, not the bits: rounds of micro-batches, recomputed
// activations.
#include "runtime/error.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using testing::ExpectEqualBits;
using testing::Outcome;
using testing::ToyRun;
using testing::TrainFor;

// A run of `rounds` x `micro_batches` parts.
Outcome TrainInRounds(int stages, int micro_batches, int rounds) {
  ToyRun run;
  run.options = {.stages = stages, .micro_batches = micro_batches, .seed = 5};
  ToyRun data = run;
  data.options.micro_batches = micro_batches * rounds;
  TrainingParts parts = run.Parts();
  Trainer trainer(run.options, parts);
  Outcome outcome;
  trainer.Train(8, data.Batches(),
                {.on_step = [&](const StepReport& r) { outcome.losses.push_back(r.loss); }});
  outcome.state = trainer.State();
  return outcome;
}

TEST(Accumulation, RoundsGiveTheBitsOfOneRoundOfAllMicroBatches) {
  const Outcome one = TrainInRounds(1, 6, 1);
  ExpectEqualBits(one, TrainInRounds(1, 1, 6));
  ExpectEqualBits(one, TrainInRounds(2, 2, 3));
  ExpectEqualBits(one, TrainInRounds(3, 3, 2));
}

TEST(Accumulation, APartOfARoundIsAnError) {
  ToyRun run, data;
  run.options = {.stages = 2, .micro_batches = 4};
  data.options.micro_batches = 6;
  Trainer trainer(run.options, run.Parts());
  EXPECT_THROW(trainer.Train(1, data.Batches()), BadInput);
}

TEST(Recompute, EveryCutAndChoiceOfBlocksGivesTheSameBits) {
  ToyRun run;
  run.options = {.micro_batches = 3, .seed = 5};
  const Outcome kept = TrainFor(run, 6);
  for (const std::vector<bool>& choice :
       {std::vector<bool>{true, true, true, true}, {false, true, false, true}}) {
    for (const Cuts& cuts : {Cuts{}, Cuts{1}, Cuts{1, 3}}) {
      run.options.cuts = cuts;
      run.options.stages = static_cast<int>(cuts.size()) + 1;
      TrainingParts parts = run.Parts();
      parts.model = [&choice] {
        std::vector<Block> model = testing::ToyModel(4);
        for (size_t i = 0; i < model.size(); ++i) model[i].recompute = choice[i];
        return model;
      };
      ExpectEqualBits(kept, TrainFor(run, 6, parts));
    }
  }
}

TEST(Recompute, TiedWeightsKeepTheirBits) {
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 3, .seed = 5};
  const auto parts = [&](bool recompute) {
    TrainingParts made = run.Parts();
    made.model = [recompute] {
      std::vector<Block> model = testing::ToyTiedModel({0, 0, 2, 0});
      for (Block& block : model) block.recompute = recompute;
      return model;
    };
    return made;
  };
  ExpectEqualBits(TrainFor(run, 6, parts(false)), TrainFor(run, 6, parts(true)));
}

// Averages by hand, from the weights after each step.
TEST(Averages, FollowTheWeights) {
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 2, .ema_decay = 0.75};
  Trainer trainer(run.options, run.Parts());
  EXPECT_TRUE(trainer.State().averages.empty());
  std::vector<double> expected;
  for (int64_t step = 0; step < 4; ++step) {
    trainer.Train(step + 1, run.Batches());
    const std::vector<double> weight = ToVector<double>(trainer.State().weights[3].value);
    if (step == 0) expected = weight;
    for (size_t i = 0; i < weight.size(); ++i) expected[i] += 0.25 * (weight[i] - expected[i]);
  }
  const NamedTensor average = trainer.State().averages.at(3);
  EXPECT_EQ(average.name, trainer.State().weights[3].name);
  EXPECT_EQ(ToVector<double>(average.value), expected);
}

TEST(Averages, AreWhatIsEvaluatedAndChangeNoWeight) {
  ToyRun run;
  run.options = {.stages = 2, .replicas = 2, .micro_batches = 2, .ema_decay = 0.75};
  Trainer averaged(run.options, run.Parts());
  run.options.ema_decay = 0;
  Trainer plain(run.options, run.Parts());
  averaged.Train(5, run.Batches());
  plain.Train(5, run.Batches());
  testing::ExpectEqualBits(averaged.State().weights, plain.State().weights);
  const double loss = averaged.Evaluate(3, run.Batches()).loss;
  EXPECT_NE(loss, plain.Evaluate(3, run.Batches()).loss);
  testing::ExpectEqualBits(averaged.State().weights, plain.State().weights);
  // The same model with the averages for its weights.
  std::vector<NamedTensor> weights = averaged.State().weights;
  const std::vector<NamedTensor> averages = averaged.State().averages;
  std::copy(averages.begin(), averages.end(), weights.begin());
  plain.SetWeights(weights);
  EXPECT_EQ(loss, plain.Evaluate(3, run.Batches()).loss);
}

TEST(Averages, GoOnFromAState) {
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 2, .ema_decay = 0.75};
  Trainer whole(run.options, run.Parts()), part(run.options, run.Parts());
  whole.Train(6, run.Batches());
  part.Train(3, run.Batches());
  Trainer resumed(run.options, run.Parts());
  resumed.SetState(part.State());
  resumed.Train(6, run.Batches());
  testing::ExpectEqualBits(whole.State().averages, resumed.State().averages);
}

}  // namespace
}  // namespace torus::parallel
