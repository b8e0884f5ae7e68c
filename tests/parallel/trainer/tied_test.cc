// Weights that several blocks use: each use's gradient is accumulated apart and they are summed in
// block order, so every cut gives the same bits.
#include <mutex>

#include "runtime/error.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using testing::ExpectEqualBits;
using testing::Outcome;
using testing::ToyRun;
using testing::ToyTiedModel;
using testing::TrainFor;

// The first and last block share a weight, as a language model's embedding and head do; with
// `middle`, so does one between.
TrainingParts TiedParts(const ToyRun& run, bool own_leaves, bool middle = false) {
  TrainingParts parts = run.Parts();
  parts.model = [=] {
    return ToyTiedModel(middle ? std::vector{0, 1, 0, 0} : std::vector{0, 1, 2, 0}, own_leaves);
  };
  return parts;
}

class Tied : public ::testing::TestWithParam<bool> {};

TEST_P(Tied, EveryCutGivesTheSameBits) {
  for (const bool middle : {false, true}) {
    ToyRun run;
    run.options = {.micro_batches = 3, .seed = 5, .clip_norm = 0.05};
    const TrainingParts parts = TiedParts(run, GetParam(), middle);
    const Outcome one = TrainFor(run, 8, parts);
    EXPECT_EQ(one.state.optimizer.size(), middle ? 2u : 3u);
    for (const Cuts& cuts : {Cuts{1}, Cuts{3}, Cuts{1, 2}, Cuts{2, 3}, Cuts{1, 2, 3}}) {
      run.options.cuts = cuts;
      run.options.stages = static_cast<int>(cuts.size()) + 1;
      ExpectEqualBits(one, TrainFor(run, 8, parts));
    }
  }
}

TEST_P(Tied, EveryScheduleGivesTheSameBits) {
  ToyRun run;
  run.options = {.micro_batches = 3, .seed = 5, .clip_norm = 0.05};
  testing::ExpectEveryScheduleGivesTheSameBits(run, TiedParts(run, GetParam()));
}

TEST_P(Tied, TheGradientIsTheSumOfTheUses) {
  // An untied model with equal values has each use's gradient apart.
  ToyRun run;
  run.options = {.micro_batches = 2};
  std::map<std::string, std::vector<double>> apart, tied;
  const auto watch = [](auto& gradients) {
    return [&](const RankPlace&, int64_t, const std::vector<NamedVariable>& parameters) {
      for (const NamedVariable& p : parameters)
        gradients[p.name] = ToVector<double>(p.value.grad());
    };
  };
  TrainingParts parts = run.Parts();
  parts.model = [] {
    std::vector<Block> model = ToyTiedModel({0, 1, 2, 0}, true);
    model[3].parameters[0].name = "layer3.weight";
    return model;
  };
  run.options.on_gradients = watch(apart);
  TrainFor(run, 1, parts);
  run.options.on_gradients = watch(tied);
  TrainFor(run, 1, TiedParts(run, GetParam()));
  ASSERT_EQ(apart.size(), 4u);
  ASSERT_EQ(tied.size(), 3u);
  for (size_t i = 0; i < tied["layer0.weight"].size(); ++i)
    EXPECT_EQ(tied["layer0.weight"][i], apart["layer0.weight"][i] + apart["layer3.weight"][i]);
  EXPECT_EQ(tied["layer1.weight"], apart["layer1.weight"]);
}

TEST_P(Tied, StagesAndReplicasHoldEqualValues) {
  ToyRun run;
  run.options = {.stages = 3, .cuts = {1, 3}, .replicas = 2, .micro_batches = 2};
  std::mutex mutex;
  std::map<int, std::vector<double>> values;  // by rank
  run.options.on_gradients = [&](const RankPlace& place, int64_t step,
                                 const std::vector<NamedVariable>& parameters) {
    const std::lock_guard lock(mutex);
    for (const NamedVariable& p : parameters)
      if (step == 7 && p.name == "layer0.weight")
        values[place.rank] = ToVector<double>(p.value.data());
  };
  TrainFor(run, 8, TiedParts(run, GetParam()));
  ASSERT_EQ(values.size(), 4u);  // first and last stage, twice
  for (const auto& [rank, value] : values) EXPECT_EQ(value, values[0]) << "rank " << rank;
}

TEST_P(Tied, GoesOnFromAState) {
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 2};
  const TrainingParts parts = TiedParts(run, GetParam());
  const Outcome whole = TrainFor(run, 6, parts);
  const Outcome half = TrainFor(run, 3, parts);
  Trainer trainer(run.options, parts);
  trainer.SetState(half.state);
  trainer.Train(6, run.Batches());
  ExpectEqualBits(whole.state.weights, trainer.State().weights);
  ExpectEqualBits(whole.state.optimizer, trainer.State().optimizer);
}

INSTANTIATE_TEST_SUITE_P(Both, Tied, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "LeafEach" : "OneVariable"; });

TEST(TiedWeights, MustBeAlike) {
  ToyRun run;
  TrainingParts parts = run.Parts();
  parts.model = [] {
    std::vector<Block> model = ToyTiedModel({0, 1, 2, 0}, true);
    model[3].parameters[0].value = Variable(Zeros(Shape{2, 2}, DType::kF64), true);
    return model;
  };
  EXPECT_THROW(TrainFor(run, 1, parts), BadInput);
}

}  // namespace
}  // namespace torus::parallel
