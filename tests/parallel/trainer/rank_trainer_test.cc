// Ranks that share nothing but a transport: each makes its own stages, they compare what they must
// have in common, and rank 0 gathers what they know.
#include "parallel/trainer/rank_trainer.h"

#include <omp.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "parallel/trainer/checkpoint.h"
#include "parallel/trainer/state_copy.h"
#include "parallel/trainer/trainer.h"
#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using testing::ExpectEqualBits;
using testing::Outcome;
using testing::ToyRun;
using testing::TrainFor;

constexpr int64_t kWide = 512;

Block WideBlock(int number) {
  const Variable weight(Full(Shape{kWide, kWide}, number, DType::kF64), true);
  return {.name = fmt::format("layer{}", number),
          .forward =
              [weight](const std::vector<Variable>& x, const StepContext& c) {
                return std::vector{testing::ToyLayer(x[0], weight, c, 0)};
              },
          .parameters = {{fmt::format("layer{}.weight", number), weight}}};
}

int64_t LiveBytes() { return static_cast<int64_t>(AllocatorFor({}).stats().live_bytes); }

TEST(RankTrainer, HoldsItsOwnStagesAlone) {
  ToyRun run;
  run.options = {.stages = 4, .chunks = 2, .micro_batches = 2, .schedule = "interleaved"};
  TrainingParts parts = run.Parts();
  parts.model = [] {
    std::vector<Block> model;
    for (int i = 0; i < 8; ++i) model.push_back(WideBlock(i));
    return model;
  };
  parts.optimizer = [](std::vector<NamedVariable> p) {
    return std::make_unique<Sgd>(p, SgdOptions{});
  };
  parts.largest_inputs = {};
  InProcessWorld world(2);
  const int64_t before = LiveBytes();
  const RankTrainer trainer(world.transport(1), run.options, parts);
  constexpr int64_t kWeight = kWide * kWide * sizeof(double);
  const int64_t taken = LiveBytes() - before;
  EXPECT_GE(taken, 4 * kWeight);
  EXPECT_LT(taken, 5 * kWeight);
  EXPECT_EQ(trainer.place().stages, (std::vector<int>{1, 3}));
}

// Ranks 0 and 1 on one host, 2 on another.
class TwoHosts : public DecoratedTransport {
 public:
  using DecoratedTransport::DecoratedTransport;
  std::vector<int> SameHost() const override {
    return rank() < 2 ? std::vector{0, 1} : std::vector{2};
  }
};

TEST(RankTrainer, SharesTheThreadsOfAHostAmongItsRanks) {
  ToyRun run;
  std::map<int, std::set<int>> threads;
  std::mutex mutex;
  run.options = {.stages = 3, .micro_batches = 2, .threads = 3};
  run.options.wrap_transport = [](Transport& inner) { return std::make_unique<TwoHosts>(inner); };
  run.options.before_action = [&](const RankPlace& place, const Action&, int64_t) {
    const std::lock_guard lock(mutex);
    threads[place.rank].insert(TeamSize());
  };
  Trainer trainer(run.options, run.Parts());
  trainer.Train(1, run.Batches());
  const auto granted = [](int share) { return std::set{std::min(share, omp_get_thread_limit())}; };
  EXPECT_EQ(threads,
            (std::map<int, std::set<int>>{{0, granted(2)}, {1, granted(1)}, {2, granted(3)}}));
}

// What ranks of a world come to, each with its own options.
using OptionsOf = std::function<TrainerOptions(int rank)>;

std::string PrepareFails(int ranks, const OptionsOf& options,
                         const std::function<TrainingParts(int rank)>& parts) {
  std::mutex mutex;
  std::vector<std::string> messages;
  RunRanks(ranks, [&](Transport& world) {
    RankTrainer trainer(world, options(world.rank()), parts(world.rank()));
    try {
      trainer.Prepare();
    } catch (const BadInput& error) {
      const std::lock_guard lock(mutex);
      messages.push_back(error.what());
    }
  });
  EXPECT_EQ(messages.size(), static_cast<size_t>(ranks)) << "not all ranks refuse";
  for (const std::string& message : messages) EXPECT_EQ(message, messages[0]);
  return messages.empty() ? "" : messages[0];
}

TEST(RankTrainer, RanksThatDifferAreNamed) {
  ToyRun run;
  run.options = {.stages = 3, .micro_batches = 2};
  const auto same = [&](int) { return run.Parts(); };
  const auto change = [&](int rank, const std::function<void(TrainerOptions&)>& edit) -> OptionsOf {
    return [=, options = run.options](int r) {
      TrainerOptions own = options;
      if (r >= rank) edit(own);
      return own;
    };
  };
  EXPECT_EQ(PrepareFails(3, change(2, [](auto& o) { o.schedule = "1f1b"; }), same),
            "[trainer] rank 2 has schedule 1f1b, rank 0 has gpipe");
  EXPECT_EQ(PrepareFails(3, change(1, [](auto& o) { o.seed = 7; }), same),
            "[trainer] ranks 1, 2 have seed 7, rank 0 has 0");
  EXPECT_EQ(PrepareFails(3, change(2, [](auto& o) { o.threads = 4; }), same),
            "[trainer] rank 2 has threads 4, rank 0 has 1");
  EXPECT_EQ(PrepareFails(3,
                         change(1,
                                [](auto& o) {
                                  o.cuts = {1, 3};
                                }),
                         same),
            "[trainer] ranks 1, 2 have cuts 1,3, rank 0 has 1,2");
  EXPECT_EQ(PrepareFails(3, change(2, [](auto& o) { o.micro_batches = 3; }), same),
            "[trainer] rank 2 has micro-batches 3, rank 0 has 2");
  run.options.facts = {{"--lr", "0.1"}, {"--momentum", "0.9"}};
  EXPECT_EQ(PrepareFails(3, change(2, [](auto& o) { o.facts[0].second = "0.2"; }), same),
            "[trainer] rank 2 has --lr 0.2, rank 0 has 0.1");
  EXPECT_EQ(PrepareFails(3, change(1, [](auto& o) { o.facts[1].second = "0"; }), same),
            "[trainer] ranks 1, 2 have --momentum 0, rank 0 has 0.9");
}

TEST(RankTrainer, ADifferentModelIsNamedByItsFirstDifference) {
  ToyRun run;
  run.options = {.stages = 2, .cuts = {2}, .micro_batches = 2};
  const auto options = [&](int) { return run.options; };
  const auto model = [&](int rank) {
    TrainingParts parts = run.Parts();
    if (rank == 1)
      parts.model = [] {
        std::vector<Block> blocks = testing::ToyModel(4);
        blocks[3].parameters[0].value = Variable(Zeros(Shape{2, 3}, DType::kF32), true);
        return blocks;
      };
    return parts;
  };
  EXPECT_EQ(PrepareFails(2, options, model),
            "[trainer] rank 1 has parameter layer3.weight f32 (2, 3), rank 0 has layer3.weight "
            "f64 (6, 6)");
}

TEST(RankTrainer, RefusesAWorldOfAnotherSize) {
  ToyRun run;
  run.options = {.stages = 2, .replicas = 2, .micro_batches = 2};
  InProcessWorld world(3);
  try {
    const RankTrainer trainer(world.transport(0), run.options, run.Parts());
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_STREQ(error.what(), "[trainer] 2 replicas of 2 ranks need 4, there are 3");
  }
}

// What Trainer does, by hand; hooks are heard on rank 0 alone.
TEST(RankTrainer, RanksComeToWhatATrainerComesTo) {
  ToyRun run;
  run.options = {
      .stages = 2, .replicas = 2, .micro_batches = 2, .clip_norm = 0.05, .ema_decay = 0.5};
  const Outcome expected = TrainFor(run, 5);
  Outcome outcome;
  std::vector<std::map<int, StageTensors>> parts(4);
  std::vector<TrainTotals> totals(4);
  RunRanks(4, [&](Transport& world) {
    const int rank = world.rank();
    RankTrainer trainer(world, run.options, run.Parts());
    trainer.Prepare();
    trainer.Train(5, run.Batches(), {.on_step = [&](const StepReport& report) {
                    EXPECT_EQ(rank, 0);
                    EXPECT_EQ(report.step, static_cast<int64_t>(outcome.losses.size()));
                    EXPECT_GT(report.seconds, 0);
                    outcome.losses.push_back(report.loss);
                  }});
    parts[rank] = trainer.OwnTensors();
    totals[rank] = trainer.totals();
  });
  for (const int replica : {0, 1}) {
    std::map<int, StageTensors> whole = parts[2 * replica];
    whole.merge(std::map<int, StageTensors>(parts[2 * replica + 1]));
    outcome.state = Join(5, whole);
    ExpectEqualBits(expected, outcome);
    ExpectEqualBits(expected.state.averages, outcome.state.averages);
  }
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(totals[rank].steps, 5);
    EXPECT_EQ(totals[rank].ranks.size(), rank == 0 ? 4u : 1u);
    const TrainState part = Join(5, parts[rank]);
    EXPECT_EQ(part.weights.size(), 4u);  // of two blocks: weight and statistics
    EXPECT_EQ(part.optimizer.size(), 2u);
    EXPECT_EQ(part.weights[0].name, rank % 2 == 0 ? "layer0.weight" : "layer2.weight");
  }
  constexpr uint64_t kWeight = testing::kWidth * testing::kWidth * sizeof(double);
  for (const RankTime& rank : totals[0].ranks) {
    EXPECT_EQ(rank.weights_bytes, 2 * (kWeight + sizeof(double)));
    EXPECT_EQ(rank.optimizer_bytes, 2 * kWeight);
  }
}

// Rank 0's evaluation is every rank's, and rank 0 ends it.
TEST(RankTrainer, EvaluatesAlikeOnEveryRank) {
  ToyRun run;
  run.options = {.stages = 2, .replicas = 2, .micro_batches = 2};
  std::vector<EvaluationResult> whole(4), stopped(4);
  RunRanks(4, [&](Transport& world) {
    RankTrainer trainer(world, run.options, run.Parts());
    trainer.Prepare();
    whole[world.rank()] = trainer.Evaluate(3, run.Batches());
    int asked = 0;
    stopped[world.rank()] = trainer.Evaluate(3, run.Batches(), [&] {
      EXPECT_EQ(world.rank(), 0);
      return ++asked > 1;
    });
  });
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(whole[rank].samples, 12 + 12 + 11);
    EXPECT_EQ(whole[rank].loss, whole[0].loss);
    EXPECT_TRUE(whole[rank].finished);
    EXPECT_EQ(stopped[rank].samples, 12);
    EXPECT_FALSE(stopped[rank].finished);
  }
}

// The loss of the toy counts all rows here; the recipe's gives those that are left out 0.
TEST(RankTrainer, AnEvaluationDoesNotCountWhatIsLeftOut) {
  ToyRun run;
  run.options = {.stages = 2, .replicas = 2, .micro_batches = 2};
  TrainingParts parts = run.Parts();
  parts.correct = [](const auto& outputs, const auto&) { return outputs[0].data().dim(0); };
  parts.left_out = [](const auto& targets) { return targets[0].dim(0) > 2 ? 1 : 0; };
  std::vector<EvaluationResult> all(4), some(4);
  RunRanks(4, [&](Transport& world) {
    RankTrainer trainer(world, run.options, run.Parts()), leaving(world, run.options, parts);
    trainer.Prepare();
    all[world.rank()] = trainer.Evaluate(3, run.Batches());
    leaving.Prepare();
    some[world.rank()] = leaving.Evaluate(3, run.Batches());
  });
  constexpr int kMicroBatches = 3 * 2 * 2;  // of three rows, but for one of two
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(some[rank].samples, 35 - (kMicroBatches - 1));
    EXPECT_EQ(some[rank].correct, 35);
    EXPECT_DOUBLE_EQ(some[rank].loss * (35 - (kMicroBatches - 1)), all[rank].loss * 35);
  }
}

TEST(RankTrainer, TooManySkippedLeavesTheWorldWhole) {
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 2, .max_skipped = 2};
  TrainingParts parts = run.Parts();
  parts.loss = [](const auto& outputs, const auto& targets) {
    return testing::ToyLoss(outputs, {Full(targets[0].shape(), INFINITY, DType::kF64)});
  };
  RunRanks(2, [&](Transport& world) {
    RankTrainer trainer(world, run.options, parts);
    trainer.Prepare();
    EXPECT_THROW(trainer.Train(9, run.Batches()), TooManySkipped);
    EXPECT_EQ(trainer.step(), 2);
    const std::string folder = ::testing::TempDir() + "/too_many_skipped";
    EXPECT_EQ(trainer.Save(folder), nullptr);
    EXPECT_EQ(io::CheckpointReader(folder).entries(io::kWeights).size(), 8u);
  });
}

}  // namespace
}  // namespace torus::parallel
