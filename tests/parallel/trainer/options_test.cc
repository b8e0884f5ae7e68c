// Options that change time and memory, not the bits: rounds of micro-batches, recomputed activations.
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

}  // namespace
}  // namespace torus::parallel
