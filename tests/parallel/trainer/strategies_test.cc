// All strategies that keep replicas equal give the bits of ddp: by every schedule and cut, with
// tied, frozen and unused weights, clipping, averages, skipped steps and an uneven tail; and each
// goes on where another has stopped.
#include <algorithm>

#include "parallel/data_parallel/strategy_factory.h"
#include "parallel/optim/gradient_norm.h"
#include "runtime/error.h"
#include "tests/parallel/trainer/wide_model.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

constexpr int64_t kSteps = 50, kBadStep = 7;

// One replica's target is infinite in one step, which all skip. A micro-batch
// of replica 0 has no sample in every third step.
ToyRun RunOf(const std::string& strategy, int replicas) {
  ToyRun run;
  run.options = {.replicas = replicas,
                 .micro_batches = 2,
                 .strategy = strategy,
                 .seed = 5,
                 .clip_norm = 0.05,
                 .ema_decay = 0.9};
  run.global = 2 * replicas;
  return run;
}

TrainingParts PartsOf(const ToyRun& run, bool adam) {
  TrainingParts parts = run.Parts();
  parts.model = WideModel;
  parts.optimizer = adam ? WideAdam : WideSgd;
  parts.learning_rate = [](int64_t step) { return 0.02 / (1.0 + static_cast<double>(step)); };
  return parts;
}

struct Ended {
  Outcome outcome;
  int64_t skipped = 0;
  double test_loss = 0;
};

Ended Train(const ToyRun& run, bool adam, int64_t steps = kSteps, const TrainState* from = {}) {
  Trainer trainer(run.options, PartsOf(run, adam));
  if (from != nullptr) trainer.SetState(*from);
  Ended ended;
  trainer.Train(steps, WithABadStep(run.Batches(), kBadStep),
                {.on_step = [&](const StepReport& r) { ended.outcome.losses.push_back(r.loss); }});
  ended.skipped = trainer.totals().skipped_steps;
  ended.test_loss = trainer.Evaluate(2, run.Batches()).loss;
  ended.outcome.state = trainer.State();
  return ended;
}

// The order of an optimizer's groups goes by stage.
void ExpectEqual(Ended a, Ended b) {
  for (Ended* ended : {&a, &b})
    std::ranges::sort(ended->outcome.state.optimizer, {}, &NamedTensor::name);
  ExpectEqualBits(a.outcome, b.outcome);
  ExpectEqualBits(a.outcome.state.averages, b.outcome.state.averages);
  EXPECT_EQ(a.skipped, b.skipped);
  EXPECT_EQ(a.test_loss, b.test_loss);
}

// The names of those that are to agree.
std::vector<std::string> Agreeing() {
  std::vector<std::string> names = StrategyNames();
  std::erase_if(names, [](const std::string& name) { return !KeepsReplicasEqual(name); });
  return names;
}

class Strategies : public ::testing::TestWithParam<bool> {};  // Adam, or SGD

TEST_P(Strategies, GiveTheBitsOfDdp) {
  for (const int replicas : {2, 3}) {
    const Ended ddp = Train(RunOf("ddp", replicas), GetParam());
    EXPECT_EQ(ddp.skipped, 1);
    EXPECT_EQ(ddp.outcome.losses.size(), static_cast<size_t>(kSteps));
    for (const std::string& strategy : Agreeing()) {
      SCOPED_TRACE(fmt::format("{}, {} replicas", strategy, replicas));
      ExpectEqual(ddp, Train(RunOf(strategy, replicas), GetParam()));
    }
  }
}

TEST_P(Strategies, GiveTheSameBitsByEveryScheduleAndCut) {
  const Ended one = Train(RunOf("ddp", 2), GetParam(), 12);
  for (const std::string& strategy : Agreeing()) {
    ToyRun run = RunOf(strategy, 2);
    for (const char* schedule : {"gpipe", "1f1b", "zb-h1", "u-shaped", "interleaved",
                                 "zb-interleaved", "zb-v", "v-half", "v-min", "dualpipe-v"}) {
      SCOPED_TRACE(fmt::format("{}, {}", strategy, schedule));
      run.options.schedule = schedule;
      run.options.stages = 4;
      run.options.chunks = TakesChunks(schedule) ? 2 : 1;
      ExpectEqual(one, Train(run, GetParam(), 12));
    }
    run.options.schedule = "1f1b";
    run.options.chunks = 1;
    for (const Cuts& cuts : {Cuts{2}, Cuts{1, 2}}) {
      run.options.cuts = cuts;
      run.options.stages = static_cast<int>(cuts.size()) + 1;
      ExpectEqual(one, Train(run, GetParam(), 12));
    }
  }
}

TEST_P(Strategies, GoOnWhereAnotherHasStopped) {
  const Ended whole = Train(RunOf("ddp", 3), GetParam(), 12);
  for (const std::string& first : Agreeing()) {
    const Ended half = Train(RunOf(first, 3), GetParam(), 6);
    for (const std::string& second : Agreeing()) {
      SCOPED_TRACE(first + ", then " + second);
      ToyRun run = RunOf(second, 3);
      run.options.stages = 2;
      Ended rest = Train(run, GetParam(), 12, &half.outcome.state);
      rest.outcome.losses.insert(rest.outcome.losses.begin(), half.outcome.losses.begin(),
                                 half.outcome.losses.end());
      ExpectEqual(whole, rest);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Strategies, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "AdamW" : "Sgd"; });

// Of all replicas together, the optimizer's state is that of one: each element is held once.
TEST(StrategyMemory, AShardedOptimizerHasItsStateOnce) {
  for (const std::string strategy : {"dataparallel", "ps", "ps-sharded", "zero1", "fsdp"}) {
    const auto bytes = [](const std::string& name) {
      const ToyRun run = RunOf(name, 3);
      Trainer trainer(run.options, PartsOf(run, false));
      trainer.Train(2, WithABadStep(run.Batches(), kBadStep));
      std::vector<uint64_t> of_ranks;
      for (const RankTime& rank : trainer.totals().ranks) of_ranks.push_back(rank.optimizer_bytes);
      return of_ranks;
    };
    const std::vector<uint64_t> ddp = bytes("ddp"), sharded = bytes(strategy);
    EXPECT_EQ(sharded[0] + sharded[1] + sharded[2], ddp[0]) << strategy;
    const bool one_server = strategy == "dataparallel" || strategy == "ps";
    EXPECT_EQ(sharded[1] == 0, one_server) << strategy;
    if (strategy != "zero1" && strategy != "fsdp") continue;
    // Of four blocks of the wide weight two at most, and the four small weights.
    for (const uint64_t own : sharded) EXPECT_LE(own, 2 * kNormBlock * sizeof(double) + 2048);
  }
}

// Four blocks of one wide weight each.
std::vector<Block> WideBlocks() {
  std::vector<Block> model;
  for (int i = 0; i < 4; ++i) {
    Block block = ToyBlock(i);
    block.parameters.clear();
    block.buffers.clear();
    block.forward = [](const std::vector<Variable>& x, const StepContext&) { return x; };
    AddUse(
        block, fmt::format("wide{}.weight", i), WideWeight(),
        [](const Variable& x, const Variable& w, const StepContext&) { return WideLayer(x, w); });
    model.push_back(std::move(block));
  }
  return model;
}

// docs/data_parallel.md has the formulas: SGD with momentum, one micro-batch of each of 4 replicas.
TEST(StrategyMemory, PeaksAreThoseOfTheFormulas) {
  constexpr int kReplicas = 4;
  constexpr uint64_t kWeight = kWidth * kWide * sizeof(double), kAll = 4 * kWeight;
  const std::vector<ElementRange> shares =
      MakeShardPlan(ShardRule::kBlocks, {{"w", kWidth * kWide, 0}}, kReplicas).at("w");
  const auto peaks = [](const std::string& strategy) {
    ToyRun run;
    run.options = {.replicas = kReplicas, .strategy = strategy};
    run.global = 8;
    TrainingParts parts = run.Parts();
    parts.model = WideBlocks;
    Trainer trainer(run.options, parts);
    trainer.Train(3, run.Batches());
    return trainer.totals().ranks;
  };
  const std::vector<RankTime> ddp = peaks("ddp"), zero1 = peaks("zero1"), fsdp = peaks("fsdp");
  for (int r = 0; r < kReplicas; ++r) {
    const uint64_t share = static_cast<uint64_t>(shares[r].size()) * sizeof(double);
    EXPECT_EQ(ddp[r].peak_bytes, 3 * kAll);
    EXPECT_EQ(zero1[r].peak_bytes, 2 * kAll + 4 * share);
    EXPECT_EQ(fsdp[r].weights_bytes, 4 * share);
    EXPECT_EQ(fsdp[r].optimizer_bytes, 4 * share);
    // The first block's backward is the last: its weight, whole, and its gradient, beside the
    // shares of the others' gradients. Gathered weights begin at multiples of 64 bytes.
    EXPECT_NEAR(static_cast<double>(fsdp[r].peak_bytes),
                static_cast<double>(2 * kWeight + (4 + 4 + 3) * share), 63);
  }
}

TEST(Unsynchronized, ReplicasDriftAndTheTotalsSayHowFar) {
  ToyRun run = RunOf("none", 3);
  run.options.stages = 2;
  Trainer trainer(run.options, PartsOf(run, false));
  EXPECT_EQ(Drift(trainer.totals().ranks), 0);
  trainer.Train(3, WithABadStep(run.Batches(), kBadStep));
  const double early = Drift(trainer.totals().ranks);
  EXPECT_GT(early, 0);
  EXPECT_LT(early, 1);
  EXPECT_EQ(trainer.totals().ranks[0].drift_distance, 0);
  for (const LinkBytes& link : trainer.totals().links)
    EXPECT_EQ(link.from / 2, link.to / 2) << link.what << " between replicas";
  trainer.Train(20, WithABadStep(run.Batches(), kBadStep));
  EXPECT_GT(Drift(trainer.totals().ranks), early);

  run.options.strategy = "ddp";
  Trainer agreeing(run.options, PartsOf(run, false));
  agreeing.Train(3, WithABadStep(run.Batches(), kBadStep));
  EXPECT_EQ(Drift(agreeing.totals().ranks), 0);
}

// Each replica alone takes the steps of a run of its own, on its own part of the data.
TEST(Unsynchronized, AReplicaStepsByTheMeanOfItsOwnSamples) {
  ToyRun run;
  run.options = {.replicas = 2, .micro_batches = 1, .strategy = "none"};
  run.global = 8;
  ToyRun alone = run;
  alone.options = {.micro_batches = 1};
  Trainer trainer(alone.options, alone.Parts());
  trainer.Train(2, [&](int64_t step, const RankPlace&) {
    MiniBatch batch = run.Batches()(step, {.replica = 0, .first = true, .last = true});
    batch.global_samples = static_cast<int64_t>(batch.micro_batches[0].samples.size());
    return batch;
  });
  const TrainState one = trainer.State(), two = TrainFor(run, 2).state;
  for (size_t i = 0; i < one.weights.size(); ++i) {
    const std::vector<double> want = ToVector<double>(one.weights[i].value),
                              got = ToVector<double>(two.weights[i].value);
    // A gradient divided by its share again, a power of two: no rounding.
    EXPECT_EQ(want, got) << one.weights[i].name;
  }
}

TEST(StrategyOptions, AreChecked) {
  ToyRun run = RunOf("zero-1", 2);
  EXPECT_THROW(Trainer(run.options, PartsOf(run, false)), BadInput);
  run.options.strategy = "zero1";
  run.options.collectives = "ring";
  EXPECT_THROW(Trainer(run.options, PartsOf(run, false)), BadInput);
}

}  // namespace
}  // namespace torus::parallel
