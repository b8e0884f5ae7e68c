// Strategies whose replicas take steps of their own and exchange weights give the same bits on
// every cut and schedule, go on exactly in the middle of a round, and send what their closed forms
// say.
#include <cmath>

#include "parallel/data_parallel/strategy_factory.h"
#include "parallel/trainer/checkpoint.h"
#include "runtime/error.h"
#include "tests/parallel/trainer/exchange_run.h"
#include "tests/parallel/trainer/f32_model.h"
#include "tests/parallel/trainer/wide_model.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

const char* const kStrategies[] = {"local-sgd:3", "diloco:3",           "diloco:2:0.5:0.25",
                                   "gossip:ring", "gossip:exponential", "gossip:random"};

TrainingParts PlainSgd(const ToyRun& run) {
  TrainingParts parts = run.Parts();
  parts.optimizer = [](std::vector<NamedVariable> parameters) {
    return std::make_unique<Sgd>(std::move(parameters), SgdOptions{});
  };
  return parts;
}

// The mean of w - rate x gradient is w - rate x mean gradient, but for rounding: some 16 roundings
// a step of values below 2, which the later steps change by at most the sum of the rates (below
// 0.4) times the curvature (below 12).
TEST(LocalSgd, OfOneStepIsDdpForPlainSgd) {
  constexpr int64_t kSteps = 20;
  const double tolerance = kSteps * 16 * 2 * 0x1p-53 * std::exp(0.4 * 12);
  ToyRun run = ExchangeRun("ddp", 3);
  const auto train = [&](const std::string& strategy) {
    run.options.strategy = strategy;
    Trainer trainer(run.options, PlainSgd(run));
    trainer.Train(kSteps, EvenBatches(run));
    return trainer.State().weights;
  };
  const std::vector<NamedTensor> ddp = train("ddp"), local = train("local-sgd:1"),
                                 rare = train("local-sgd:5");
  double apart = 0;
  for (const std::string& name : Names()) {
    const Values want = ValuesOf(ddp, name), got = ValuesOf(local, name),
                 late = ValuesOf(rare, name);
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(got[i], want[i], tolerance) << name;
      apart = std::max(apart, std::abs(late[i] - want[i]));
    }
  }
  EXPECT_GT(apart, 1000 * tolerance) << "rounds of five steps are another training";
}

constexpr int64_t kBadStep = 4;

// Tied, frozen and unused weights, clipping and AdamW.
struct WideRun {
  explicit WideRun(const std::string& strategy, int stages = 2) : run(ExchangeRun(strategy, 3)) {
    run.options.stages = stages;
    run.options.micro_batches = 2;
    run.options.clip_norm = 0.05;
    run.global = 6;
    TrainingParts parts = run.Parts();
    parts.model = WideModel;
    parts.optimizer = WideAdam;
    trainer = std::make_unique<Trainer>(run.options, parts);
  }
  void Train(int64_t end) {
    trainer->Train(end, WithABadStep(run.Batches(), kBadStep),
                   {.on_step = [&](const StepReport& r) { losses.push_back(r.loss); }});
  }
  ToyRun run;
  std::unique_ptr<Trainer> trainer;
  std::vector<double> losses;
};

void ExpectEqualStates(TrainState a, TrainState b) {
  for (TrainState* state : {&a, &b})
    for (auto* list : {&state->weights, &state->optimizer, &state->codecs, &state->replicas})
      std::ranges::sort(*list, {}, &NamedTensor::name);
  EXPECT_EQ(a.step, b.step);
  ExpectEqualBits(a.weights, b.weights);
  ExpectEqualBits(a.optimizer, b.optimizer);
  ExpectEqualBits(a.codecs, b.codecs);
  ExpectEqualBits(a.replicas, b.replicas);
}

TEST(WeightExchange, GoesOnExactlyInTheMiddleOfARound) {
  for (const std::string strategy : kStrategies)
    for (const int64_t at : {2, 5}) {
      SCOPED_TRACE(fmt::format("{}, stopped after step {}", strategy, at));
      WideRun whole(strategy);
      whole.Train(9);
      EXPECT_EQ(whole.trainer->totals().skipped_steps, 1);
      WideRun first(strategy);
      first.Train(at);
      const std::string folder = ::testing::TempDir() + "round";
      first.trainer->Save(folder);
      const TrainState saved = LoadCheckpoint(folder);
      ExpectEqualStates(saved, first.trainer->State());
      for (const int stages : {2, 4}) {
        WideRun second(strategy, stages);
        second.trainer->SetState(saved);
        ExpectEqualStates(second.trainer->State(), saved);
        second.Train(9);
        std::vector<double> losses = first.losses;
        losses.insert(losses.end(), second.losses.begin(), second.losses.end());
        EXPECT_EQ(losses, whole.losses);
        ExpectEqualStates(second.trainer->State(), whole.trainer->State());
      }
    }
}

// With another number of replicas, or from a run of ddp, a round begins with the weights there are.
TEST(WeightExchange, BeginsWithTheMeanWhereReplicasAreNotThoseOfTheState) {
  WideRun three("local-sgd:8");
  three.Train(2);
  const TrainState state = three.trainer->State();
  ToyRun two = ExchangeRun("local-sgd:8", 2);
  TrainingParts parts = two.Parts();
  parts.model = WideModel;
  parts.optimizer = WideAdam;
  Trainer trainer(two.options, parts);
  trainer.SetState(state);
  ExpectEqualBits(trainer.State().weights, state.weights);
  const TrainState own = trainer.State();
  for (const NamedTensor& tensor : own.replicas) {
    const size_t at = tensor.name.find("/weights/");
    if (at == std::string::npos) continue;
    EXPECT_EQ(ToVector<double>(tensor.value), ValuesOf(state.weights, tensor.name.substr(at + 9)))
        << tensor.name;
  }

  two.options.strategy = "ddp";
  Trainer ddp(two.options, parts);
  ddp.SetState(state);
  ExpectEqualBits(ddp.State().weights, state.weights);
  EXPECT_TRUE(ddp.State().replicas.empty());
}

TEST(WeightExchange, EveryCutAndScheduleGivesTheSameBits) {
  for (const std::string strategy : kStrategies) {
    SCOPED_TRACE(strategy);
    ToyRun run = ExchangeRun(strategy, 3);
    run.options.micro_batches = 2;
    run.global = 6;
    run.options.clip_norm = 0.05;
    ExpectEveryCutGivesTheSameBits(run);
    run.options.cuts = {};
    ExpectEveryScheduleGivesTheSameBits(run, run.Parts());
  }
}

TEST(WeightExchange, OtherStagesOfATiedWeightComeToTheSameBits) {
  for (const std::string strategy : kStrategies) {
    SCOPED_TRACE(strategy);
    WideRun one(strategy, 1), four(strategy, 4);
    one.Train(7);
    four.Train(7);
    EXPECT_EQ(one.losses, four.losses);
    ExpectEqualStates(one.trainer->State(), four.trainer->State());
  }
}

// A scale of the loss that is a power of two changes no bit.
TEST(WeightExchange, KnowsNoScaleOfTheLoss) {
  for (const std::string strategy : kStrategies) {
    SCOPED_TRACE(strategy);
    ToyRun run = ExchangeRun(strategy, 2);
    const Outcome plain = TrainFor(run, 8);
    run.options.loss_scale = LossScale(1024, 2);
    ExpectEqualBits(plain, TrainFor(run, 8));
  }
}

TEST(WeightExchange, EvaluatesTheMeanAndLeavesTheReplicasApart) {
  for (const std::string strategy : {"local-sgd:4", "diloco:4", "gossip:ring"}) {
    SCOPED_TRACE(strategy);
    const ToyRun run = ExchangeRun(strategy, 3);
    Trainer trainer(run.options, run.Parts()), other(run.options, run.Parts());
    trainer.Train(6, run.Batches());
    other.Train(6, run.Batches());
    const double loss = trainer.Evaluate(2, run.Batches()).loss;
    Trainer equal(ExchangeRun("ddp", 3).options, run.Parts());
    equal.SetWeights(trainer.State().weights);
    EXPECT_EQ(loss, equal.Evaluate(2, run.Batches()).loss);
    ExpectEqualStates(trainer.State(), other.State());
    trainer.Train(9, run.Batches());
    other.Train(9, run.Batches());
    ExpectEqualStates(trainer.State(), other.State());
  }
}

// Step 4 is skipped, and the round that it would end goes on to step 5.
TEST(LocalSgd, CountsTheStepsThatAreTaken) {
  ToyRun run = ExchangeRun("local-sgd:5", 2);
  Trainer trainer(run.options, run.Parts());
  trainer.Train(5, WithABadStep(run.Batches(), kBadStep));
  EXPECT_EQ(trainer.totals().skipped_steps, 1);
  EXPECT_GT(Drift(trainer.totals().ranks), 0);
  trainer.Train(6, WithABadStep(run.Batches(), kBadStep));
  EXPECT_EQ(Drift(trainer.totals().ranks), 0);
  trainer.Train(7, WithABadStep(run.Batches(), kBadStep));
  EXPECT_GT(Drift(trainer.totals().ranks), 0);
}

uint64_t BytesSent(const ToyRun& run, int64_t steps, bool f32 = false) {
  Trainer trainer(run.options, f32 ? PartsOfF32(run) : run.Parts());
  trainer.Train(steps, run.Batches());
  uint64_t sent = 0;
  for (const LinkBytes& link : trainer.totals().links) sent += link.sent;
  return sent;
}

// Four weights of 36 values, in f64.
TEST(WeightExchange, SendsTheBytesOfTheClosedForms) {
  constexpr uint64_t kWeights = 4 * 36 * 8, kCounts = 4 * 8;
  // 2 (R - 1) times the weights, and a count of each, for every round that ends.
  for (const auto& [strategy, rounds] : {std::pair("local-sgd:1", 8u), std::pair("local-sgd:3", 2u),
                                         std::pair("diloco:4", 2u), std::pair("local-sgd:9", 0u)})
    EXPECT_EQ(BytesSent(ExchangeRun(strategy, 3), 8), rounds * 2 * 2 * (kWeights + kCounts))
        << strategy;
  EXPECT_EQ(BytesSent(ExchangeRun("ddp", 3), 8), BytesSent(ExchangeRun("local-sgd:1", 3), 8));
  for (const int64_t steps : {1, 4}) {
    const uint64_t each = kWeights * static_cast<uint64_t>(steps);
    EXPECT_EQ(BytesSent(ExchangeRun("gossip:ring", 4), steps), 4 * 2 * each);
    EXPECT_EQ(BytesSent(ExchangeRun("gossip:ring", 2), steps), 2 * each);
    EXPECT_EQ(BytesSent(ExchangeRun("gossip:exponential", 3), steps), 3 * each);
    EXPECT_EQ(BytesSent(ExchangeRun("gossip:random", 3), steps), 2 * each) << "one stays alone";
  }
}

ToyRun CodedRun(const char* codec) {
  ToyRun run = ExchangeRun("diloco:2", 3);
  run.f32 = true;
  if (codec != nullptr) run.options.reduce_codec = Named(codec);
  return run;
}

TrainState TrainCoded(const char* codec, int64_t steps, const TrainState& from = {}) {
  const ToyRun run = CodedRun(codec);
  Trainer trainer(run.options, PartsOfF32(run));
  if (from.step > 0) trainer.SetState(from);
  trainer.Train(steps, run.Batches());
  return trainer.State();
}

TEST(Diloco, SumsDifferencesThroughACodec) {
  const TrainState plain = TrainCoded(nullptr, 8);
  for (const char* codec : {"f16", "uniform:8", "ef(topk:0.3)", "ef(powersgd:1)"}) {
    SCOPED_TRACE(codec);
    const TrainState whole = TrainCoded(codec, 8);
    // f16's relative error is below 2^-11, of moves below 1; the others are bounded by the
    // differences themselves.
    for (const std::string& name : Names()) {
      const Values want = ValuesOf(plain.weights, name), got = ValuesOf(whole.weights, name);
      EXPECT_NE(got, want) << name;
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(got[i], want[i], codec == std::string("f16") ? 0x1p-9 : 0.5) << name;
    }
    // In the middle of a round.
    const TrainState half = TrainCoded(codec, 5), rest = TrainCoded(codec, 8, half);
    ExpectEqualStates(rest, whole);
    EXPECT_EQ(whole.codecs.empty(), codec[0] != 'e' || codec[1] != 'f') << "error feedback";
  }
  // Each of four weights to two others, at the end of 4 rounds: 16 bytes of header, 8 of range, 36
  // of values; the four counts once.
  EXPECT_EQ(BytesSent(CodedRun("uniform:8"), 8, true), 4u * 3 * 2 * (4 * (16 + 8 + 36) + 4 * 4));
}

std::string WhyRefused(const TrainerOptions& options) {
  ToyRun run = ExchangeRun("ddp", options.replicas);
  TrainingParts parts = run.Parts();
  parts.model = WideModel;
  parts.optimizer = WideAdam;
  try {
    Trainer trainer(options, parts);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST(WeightExchange, RefusesWhatItCannotDo) {
  const auto refused = [](TrainerOptions options, const char* why) {
    EXPECT_NE(WhyRefused(options).find(why), std::string::npos)
        << options.strategy << ": " << WhyRefused(options);
  };
  refused({.replicas = 2, .strategy = "local-sgd"}, "local-sgd:H needs a whole number of steps H");
  refused({.replicas = 2, .strategy = "local-sgd:0"}, "got \"local-sgd:0\"");
  refused({.replicas = 2, .strategy = "local-sgd:2.5"}, "a whole number");
  refused({.replicas = 2, .strategy = "diloco:8:0"}, "a finite outer rate above 0");
  refused({.replicas = 2, .strategy = "diloco:8:1:1"}, "an outer momentum from 0 to below 1");
  refused({.replicas = 2, .strategy = "diloco:8:1:0:3"}, "at most three numbers");
  refused({.replicas = 2, .strategy = "gossip:star"}, "there are: ring, exponential, random");
  refused({.replicas = 2, .strategy = "ddp:3"}, "local-sgd:H, diloco:H, gossip:GRAPH");
  refused({.replicas = 2, .strategy = "local-sgd:2", .reproducible = true}, "reproducible needs");
  refused({.replicas = 2, .strategy = "gossip:ring", .sync_batch_norm = true},
          "sync_batch_norm needs");
  refused({.replicas = 2, .strategy = "diloco:2", .ema_decay = 0.5}, "ema_decay averages");
  refused({.replicas = 2, .strategy = "local-sgd:2", .reduce_codec = Named("f16")},
          "needs the strategy ddp or diloco:H");
  // The model's first and last block share a weight.
  refused({.stages = 4, .replicas = 3, .strategy = "local-sgd:2", .collectives = "ring"},
          "in stages 0 and 3");
  refused({.stages = 4, .replicas = 2, .strategy = "diloco:2", .reduce_codec = Named("f16")},
          "direct with a codec");
  EXPECT_EQ(WhyRefused({.stages = 4, .replicas = 2, .strategy = "diloco:2"}), "");
  EXPECT_EQ(WhyRefused({.replicas = 3, .strategy = "local-sgd:2", .collectives = "ring"}), "");
}

}  // namespace
}  // namespace torus::parallel
