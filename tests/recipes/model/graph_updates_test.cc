// Updates behind steps that are launched as CUDA graphs: norms or finite checks and optimizers'
// steps that are launches too have the bits of those that are not. Skips where there is no GPU: run
// it with --config=emulated_gpu.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "parallel/optim/sgd.h"
#include "runtime/stream.h"
#include "tests/recipes/model/gpu_training.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words
using namespace testing;   // NOLINT: the models

class GraphUpdates : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
};

// Of 8, 8, 7, 8, 8, 7 and 8 rows. The second is the first whose computing is a launch, so its
// update is computed as ever; that of the fourth is recorded.
constexpr int64_t kManySteps = 7;
constexpr int64_t kLaunched = 3;

std::unique_ptr<Optimizer> MakeSgd(std::vector<NamedVariable> parameters) {
  return std::make_unique<Sgd>(std::move(parameters),
                               SgdOptions{.momentum = 0.9, .weight_decay = 0.01});
}

std::unique_ptr<Optimizer> MakeAdamW(std::vector<NamedVariable> parameters) {
  return std::make_unique<Adam>(std::move(parameters), AdamWOptions());
}

class WholeSgd : public Sgd {
 public:
  using Sgd::Sgd;
  bool splits() const override { return false; }
};

std::unique_ptr<Optimizer> MakeWhole(std::vector<NamedVariable> parameters) {
  return std::make_unique<WholeSgd>(std::move(parameters), SgdOptions{.momentum = 0.9});
}

double RateOf(int64_t step) { return 1e-2 / static_cast<double>(1 + step); }

// What is not a number equals itself then.
void NameNan(std::vector<double>& losses) {
  for (double& loss : losses)
    if (std::isnan(loss)) loss = -1;
}

// As ever and with graphs: the same bits. In two micro-batches or on two replicas.
TrainTotals TotalsOf(const Kind& kind, TrainerOptions options, Setup setup) {
  options.device = DeviceKind::kCuda;
  options.micro_batches = 2 / options.replicas;
  setup.end = std::max(setup.end, kManySteps);
  setup.learning_rate = RateOf;
  Outcome ever = Train(kind, options, setup);
  EXPECT_EQ(ever.totals.graph_checks + ever.totals.graph_updates, 0);
  options.cuda_graphs = CudaGraphs::kOn;
  Outcome graphs = Train(kind, options, setup);
  for (Outcome* outcome : {&ever, &graphs}) NameNan(outcome->losses);
  ExpectSameBits(graphs, ever);
  EXPECT_EQ(graphs.totals.skipped_steps, ever.totals.skipped_steps);
  EXPECT_EQ(Drift(graphs.totals.ranks), Drift(ever.totals.ranks));
  EXPECT_EQ(graphs.totals.why_no_graph, "");
  return graphs.totals;
}

// In bf16 the updates write the copies of weights that the launched steps read.
const std::vector<Precision> kPrecisions{{}, {DType::kBF16, MatmulMode::kNative}};

// Each optimizer behind each of the checks: the norm of a clip, and finite gradients.
struct Update {
  std::unique_ptr<Optimizer> (*make)(std::vector<NamedVariable>);
  double clip;
};
const Update kUpdates[] = {{MakeSgd, 0.5}, {MakeAdamW, 0}},
             kOpposite[] = {{MakeSgd, 0}, {MakeAdamW, 0.5}};

// With tied weights: as many launches as can be.
void ExpectAllAreLaunched(const Update& update, const TrainerOptions& options,
                          const Precision& precision = {}) {
  const TrainTotals totals =
      TotalsOf(Kinds()[2], options, {.precision = precision, .optimizer = update.make});
  EXPECT_EQ(totals.graph_checks, kLaunched);
  EXPECT_EQ(totals.graph_updates, kLaunched);
}

// Each optimizer in both precisions: in bf16 behind the clip.
TEST_F(GraphUpdates, HaveTheBitsOfOthers) {
  for (const Update& update : kUpdates)
    ExpectAllAreLaunched(update, {.clip_norm = update.clip}, kPrecisions[update.clip > 0]);
}

TEST_F(GraphUpdates, HaveThemBehindTheOtherCheck) {
  for (const Update& update : kOpposite)
    ExpectAllAreLaunched(update, {.clip_norm = update.clip}, kPrecisions[update.clip > 0]);
}

// The evaluation behind the last step is of the averages.
TEST_F(GraphUpdates, OfSeveralStagesAndWithAveragesHaveTheirs) {
  TrainerOptions options{.stages = 2, .chunks = 2, .schedule = "interleaved", .clip_norm = 0.5};
  options.ema_decay = 0.5;
  for (const Precision& precision : kPrecisions) {
    const TrainTotals totals =
        TotalsOf(Kinds()[0], options, {.precision = precision, .optimizer = MakeSgd});
    EXPECT_EQ(totals.graph_checks, kLaunched) << "one for both stages";
    EXPECT_EQ(totals.graph_updates, 2 * kLaunched);
  }
}

TEST_F(GraphUpdates, AreNotLaunchedForAnOptimizerInOnePiece) {
  const TrainTotals totals = TotalsOf(Kinds()[2], {}, {.optimizer = MakeWhole});
  EXPECT_EQ(totals.graph_checks, kLaunched);
  EXPECT_EQ(totals.graph_updates, 0);
}

// Whose loss and gradients are not finite in the fifth step.
Kind WithABadStep() {
  Kind kind = Kinds()[0];
  kind.rows = [](int64_t step) {
    Rows rows = Images(step);
    if (step == 4) rows.inputs[0].mutable_data<float>()[0] = std::numeric_limits<float>::infinity();
    return rows;
  };
  return kind;
}

TEST_F(GraphUpdates, AreNotLaunchedForAStepThatIsSkipped) {
  for (const double clip : {0.0, 0.5}) {
    const TrainTotals totals =
        TotalsOf(WithABadStep(), {.clip_norm = clip}, {.optimizer = MakeAdamW});
    EXPECT_EQ(totals.skipped_steps, 1);
    EXPECT_EQ(totals.graph_checks, kLaunched);
    EXPECT_EQ(totals.graph_updates, kLaunched - 1);
  }
}

// The skipped step halves the scale, so that the computing is recorded anew, in the eighth step.
TEST_F(GraphUpdates, UnderAScaledLossHaveTheirs) {
  TrainerOptions options;
  options.loss_scale.emplace(128);
  testing::Setup setup{.precision = {DType::kF16, MatmulMode::kNative}, .optimizer = MakeSgd};
  const TrainTotals totals = TotalsOf(WithABadStep(), options, setup);
  EXPECT_EQ(totals.skipped_steps, 1);
  EXPECT_EQ(totals.graph_steps, 3);
  EXPECT_EQ(totals.graph_checks, 2);
  EXPECT_EQ(totals.graph_updates, 1);
  setup.end = 11;
  EXPECT_GE(TotalsOf(WithABadStep(), options, setup).graph_updates, 3) << "also the last two";
}

// Gradients are summed to where the launched graphs left them.
TEST_F(GraphUpdates, OfReplicasHaveTheirs) {
  for (const Update& update : kUpdates)
    ExpectAllAreLaunched(update, {.replicas = 2, .clip_norm = update.clip});
}

// One replica's gradients are finite, the other's are not, and neither takes the step.
TEST_F(GraphUpdates, OfReplicasThatExchangeNothingAreSkippedTogether) {
  for (const double clip : {0.0, 0.5}) {
    TrainerOptions options{.replicas = 2, .clip_norm = clip};
    options.strategy = "none";
    const TrainTotals totals = TotalsOf(WithABadStep(), options, {.optimizer = MakeSgd});
    EXPECT_GT(Drift(totals.ranks), 0);
    EXPECT_EQ(totals.skipped_steps, 1);
    EXPECT_EQ(totals.graph_checks, kLaunched);
    EXPECT_EQ(totals.graph_updates, kLaunched - 1);
  }
}

// All replicas halve the scale, and record the eighth step.
TEST_F(GraphUpdates, OfReplicasUnderAScaledLossHaveTheirs) {
  TrainerOptions options{.replicas = 2};
  options.loss_scale.emplace(128);
  const TrainTotals totals =
      TotalsOf(WithABadStep(), options,
               {.precision = {DType::kF16, MatmulMode::kNative}, .end = 11, .optimizer = MakeSgd});
  EXPECT_EQ(totals.skipped_steps, 1);
  EXPECT_GE(totals.graph_updates, 3) << "one before the halving and the last two";
}

// The optimizer's state lies elsewhere then, the gradients where they lay: the next update is
// computed as ever, the one behind it recorded.
TEST_F(GraphUpdates, GoOnFromAState) {
  const Kind& kind = Kinds()[2];
  const BatchFn batches = [&](int64_t step, const RankPlace&) {
    return BatchOf(kind, step, 0, RowsOf(step), 2, RowsOf(step));
  };
  for (const auto make : {MakeSgd, MakeAdamW}) {
    TrainerOptions options{.device = DeviceKind::kCuda, .micro_batches = 2};
    options.cuda_graphs = CudaGraphs::kOn;
    const Precision& precision = kPrecisions[make == MakeAdamW];
    Trainer trainer(
        options,
        PartsOf(kind, {.precision = precision, .optimizer = make, .learning_rate = RateOf}));
    trainer.Train(5, batches);
    const TrainState half = trainer.State();
    trainer.Train(10, batches);
    const Outcome whole{.state = trainer.State()};
    EXPECT_EQ(trainer.totals().graph_updates, 5);  // of steps 3, 4, 6, 7 and 9
    trainer.SetState(half);
    trainer.Train(10, batches);
    ExpectSameBits({.state = trainer.State()}, whole);
    EXPECT_EQ(trainer.totals().graph_checks, 5 + 3);   // 6, 7 and 9 again
    EXPECT_EQ(trainer.totals().graph_updates, 5 + 2);  // 7 and 9 again
  }
}

}  // namespace
}  // namespace torus::recipes
