// TrainerOptions::sync_batch_norm: replicas normalise as one replica whose micro-batches hold the
// rows of all of theirs.
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

#include "models/nn/batch_norm2d.h"
#include "runtime/error.h"
#include "tests/parallel/trainer/fault.h"
#include "tests/parallel/trainer/outcome.h"
#include "tests/testing/tolerance.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

constexpr int kBlocks = 4;
constexpr int kReplicas = 2;

// A layer of the toy model, and batch norm. Momentum 1: the running statistics are the last step's.
Block NormBlock(int number, bool recompute) {
  const std::string name = "layer" + std::to_string(number);
  const Variable w = ToyWeight(number);
  const auto norm = std::make_shared<nn::BatchNorm2d>(
      nn::BatchNorm2dOptions{.channels = kWidth, .momentum = 1, .dtype = DType::kF64});
  norm->Initialize(0);
  Block block;
  block.name = name;
  block.forward = [=](const std::vector<Variable>& x, const StepContext& c) {
    return std::vector{norm->Forward(ToyLayer(x[0], w, c, static_cast<uint64_t>(number)), c)};
  };
  block.parameters = norm->Parameters(name + ".norm");
  block.parameters.push_back({name + ".weight", w});
  block.buffers = norm->Buffers(name + ".norm");
  block.end_mini_batch = [norm](bool taken) { norm->EndMiniBatch(taken); };
  block.recompute = recompute;
  return block;
}

struct NormRun : ToyRun {
  explicit NormRun(int replicas, int micro_batches = 2, int64_t rows = 12) {
    global = rows;
    options.replicas = replicas;
    options.micro_batches = micro_batches;
    options.sync_batch_norm = true;
  }
  TrainingParts Parts(bool recompute = false) const {
    TrainingParts parts = ToyRun::Parts();
    parts.model = [recompute] {
      std::vector<Block> model;
      for (int i = 0; i < kBlocks; ++i) model.push_back(NormBlock(i, recompute));
      return model;
    };
    return parts;
  }
};

Outcome TrainFor(const NormRun& run, int64_t steps) {
  return testing::TrainFor(run, steps, run.Parts());
}

Tensor Stacked(const Tensor& above, const Tensor& below) {
  std::vector<double> values = ToVector<double>(above);
  for (const double value : ToVector<double>(below)) values.push_back(value);
  return FromVector(values, {above.dim(0) + below.dim(0), above.dim(1)});
}

// For one replica: each micro-batch holds what those of two have together.
BatchFn JoinedBatches(const NormRun& of_two) {
  return [of_two](int64_t step, RankPlace place) {
    place.replica = 0;
    MiniBatch joined = of_two.Batches()(step, place);
    place.replica = 1;
    const MiniBatch other = of_two.Batches()(step, place);
    for (size_t m = 0; m < joined.micro_batches.size(); ++m) {
      MicroBatch& part = joined.micro_batches[m];
      const MicroBatch& more = other.micro_batches[m];
      part.samples.insert(part.samples.end(), more.samples.begin(), more.samples.end());
      part.inputs = {Stacked(part.inputs[0], more.inputs[0])};
      part.targets = {Stacked(part.targets[0], more.targets[0])};
    }
    return joined;
  };
}

// A trainer, and the gradients of its last step.
class Watched {
 public:
  Watched(NormRun run, BatchFn batches) : batches_(std::move(batches)) {
    run.options.on_gradients = [this](const RankPlace&, int64_t,
                                      const std::vector<NamedVariable>& parameters) {
      const std::lock_guard lock(mutex_);
      for (const NamedVariable& p : parameters)
        gradients[p.name] = ToVector<double>(p.value.grad());
    };
    TrainingParts parts = run.Parts();
    parts.largest_inputs = {{Shape{run.global, kWidth}, DType::kF64}};
    trainer = std::make_unique<Trainer>(run.options, parts);
  }
  void Step(int64_t step) {
    trainer->Train(step + 1, batches_, {.on_step = [this](const auto& r) { loss = r.loss; }});
  }
  std::map<std::string, std::vector<double>> gradients;
  double loss = 0;
  std::unique_ptr<Trainer> trainer;

 private:
  BatchFn batches_;
  std::mutex mutex_;
};

// Rounding errors of an activation grow by 1 / std in each normalisation, forward and backward.
double Gain(const TrainState& state) {
  double gain = 1;
  for (const NamedTensor& tensor : state.weights) {
    if (!tensor.name.ends_with("running_var")) continue;
    const std::vector<double> var = ToVector<double>(tensor.value);
    gain *= 1 / std::min(1.0, *std::min_element(var.begin(), var.end()));
  }
  return gain;
}

// Both may be off; behind each value lie the sums of two passes through all layers.
void ExpectNear(const std::vector<double>& got, const std::vector<double>& want, double gain,
                const std::string& what) {
  double largest = 1;
  for (const double value : want) largest = std::max(largest, std::abs(value));
  const double tolerance =
      2 * ::torus::testing::Tolerance(DType::kF64, 2 * kBlocks * 12 * kWidth, gain * largest);
  ASSERT_LT(tolerance, 1e-8);
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance) << what << " element " << i;
}

void ExpectNear(Watched& two, Watched& one) {
  const TrainState a = two.trainer->State(), b = one.trainer->State();
  const double gain = Gain(b);
  ExpectNear({two.loss}, {one.loss}, gain, "loss");
  ASSERT_EQ(two.gradients.size(), 3u * kBlocks);
  for (const auto& [name, gradient] : one.gradients)
    ExpectNear(two.gradients.at(name), gradient, gain, name);
  for (size_t i = 0; i < a.weights.size(); ++i)
    ExpectNear(ToVector<double>(a.weights[i].value.To(DType::kF64)),
               ToVector<double>(b.weights[i].value.To(DType::kF64)), gain, b.weights[i].name);
}

// From the same weights in each step. The third has a row less, so the replicas' shares differ.
TEST(SyncBatchNorm, TwoReplicasComputeWhatOneDoesOfTheSameMicroBatches) {
  for (const int64_t rows : {12, 6}) {
    const NormRun two_run(kReplicas, 2, rows), one_run(1, 2, rows);
    Watched two(two_run, two_run.Batches()), one(one_run, JoinedBatches(two_run));
    for (int64_t step = 0; step < 4; ++step) {
      SCOPED_TRACE(fmt::format("{} rows, step {}", rows, step));
      two.trainer->SetState(one.trainer->State());
      one.Step(step);
      two.Step(step);
      ExpectNear(two, one);
    }
  }
}

TEST(SyncBatchNorm, WithoutItTheyDoNot) {
  NormRun two_run(kReplicas);
  two_run.options.sync_batch_norm = false;
  Watched two(two_run, two_run.Batches()), one(NormRun(1), JoinedBatches(two_run));
  one.Step(0);
  two.Step(0);
  EXPECT_GT(std::abs(one.loss - two.loss), 1e-4);
}

TEST(SyncBatchNorm, OfOneReplicaChangesNoBit) {
  const NormRun with(1);
  NormRun without(1);
  without.options.sync_batch_norm = false;
  ExpectEqualBits(TrainFor(with, 4), TrainFor(without, 4));
}

// Recomputed blocks gather again in the backward, with zb-h1 in both halves of it.
TEST(SyncBatchNorm, EveryScheduleGivesTheSameBits) {
  const NormRun run(kReplicas, 4, 24);
  for (const bool recompute : {false, true}) {
    SCOPED_TRACE(recompute ? "recomputed" : "kept");
    ExpectEveryScheduleGivesTheSameBits(run, run.Parts(recompute));
  }
  ExpectEqualBits(TrainFor(run, 4), testing::TrainFor(run, 4, run.Parts(true)));
}

TEST(SyncBatchNorm, EveryStrategyGivesTheSameBits) {
  NormRun run(3, 2, 18);
  const Outcome ddp = TrainFor(run, 4);
  for (const char* strategy : {"dataparallel", "ps", "ps-sharded", "zero1", "fsdp"}) {
    SCOPED_TRACE(strategy);
    run.options.strategy = strategy;
    ExpectEqualBits(ddp, TrainFor(run, 4));
  }
}

TEST(SyncBatchNorm, EvaluatesByRunningStatistics) {
  NormRun run(kReplicas);
  const Outcome trained = TrainFor(run, 3);
  std::vector<double> losses;
  for (const bool sync : {true, false}) {
    run.options.sync_batch_norm = sync;
    Trainer trainer(run.options, run.Parts());
    trainer.SetState(trained.state);
    losses.push_back(trainer.Evaluate(3, run.Batches()).loss);
  }
  EXPECT_EQ(losses[0], losses[1]);
}

uint64_t BytesOver(NormRun run, bool sync, int64_t steps) {
  run.options.sync_batch_norm = sync;
  Trainer trainer(run.options, run.Parts());
  trainer.Train(steps, run.Batches());
  uint64_t bytes = 0;
  for (const LinkBytes& link : trainer.totals().links)
    if (link.what == "all-reduce") bytes += link.sent;
  return bytes;
}

// For each layer and micro-batch 2 C + 1 numbers forward and 2 C backward, to each other replica.
TEST(SyncBatchNorm, SendsTwoSmallTensorsALayer) {
  const NormRun run(3, 2, 18);
  constexpr uint64_t kSteps = 2, kNumbers = 4 * kWidth + 1;
  EXPECT_EQ(BytesOver(run, true, kSteps) - BytesOver(run, false, kSteps),
            kSteps * 2 * kBlocks * kNumbers * sizeof(double) * 3 * 2);
}

std::string FailureOf(const NormRun& run, const TrainingParts& parts, int64_t steps) {
  try {
    Trainer trainer(run.options, parts);
    trainer.Train(steps, run.Batches());
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// Four rows for four micro-batches; in the third step there are three.
TEST(SyncBatchNorm, AMicroBatchThatOneReplicaLacksIsRefused) {
  for (const int stages : {1, 2}) {
    NormRun run(kReplicas, 2, 4);
    run.options.stages = stages;
    EXPECT_EQ(FailureOf(run, run.Parts(), 2), "");
    ExpectSays(FailureOf(run, run.Parts(), 3),
               {"[trainer] sync_batch_norm needs samples of all replicas or of none in each "
                "micro-batch; in step 2, micro-batch 0 has some on replica 1 and none on replica "
                "0"});
  }
}

TEST(SyncBatchNorm, AMicroBatchThatAllLackIsNone) {
  const NormRun run(kReplicas, 2, 2);  // a row for each replica's second
  EXPECT_EQ(FailureOf(run, run.Parts(), 2), "");
}

TEST(SyncBatchNorm, OneRowIsEnoughWhereOthersHaveMore) {
  NormRun run(kReplicas, 2, 4);
  TrainingParts parts = run.Parts();
  parts.smallest_inputs = {{Shape{1, kWidth}, DType::kF64}};
  EXPECT_EQ(FailureOf(run, parts, 2), "");
  run.options.sync_batch_norm = false;
  ExpectSays(FailureOf(run, parts, 2), {"more than one value a channel"});
}

TEST(SyncBatchNorm, WhoWaitsForAReplicaThatStandsStillSaysSo) {
  NormRun run(kReplicas);
  run.options.timeout = kTimeout;
  run.options.before_action = [](const RankPlace& place, const Action& action, int64_t step) {
    if (place.replica == 1 && step == kFaultStep && action.kind == ActionKind::kForward)
      StandStill();
  };
  ExpectSays(FailureOf(run, run.Parts(), kFaultStep + 1),
             {"block 0 (layer0)", "batch norm over the replicas of stage 0, micro-batch 0, step 2",
              "waiting for rank 1"});
}

TEST(SyncBatchNorm, GoesWithoutWhatContradictsIt) {
  NormRun reproducible(kReplicas), none(kReplicas);
  reproducible.options.reproducible = true;
  none.options.strategy = "none";
  ExpectSays(FailureOf(reproducible, reproducible.Parts(), 1), {"only one may be set"});
  ExpectSays(FailureOf(none, none.Parts(), 1), {"needs a strategy whose replicas agree, got none"});
}

}  // namespace
}  // namespace torus::parallel
