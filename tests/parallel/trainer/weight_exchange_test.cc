// Strategies whose replicas take steps of their own and exchange weights: each gives the bits of a
// reference that runs every replica alone and averages by hand, on every cut and schedule, and goes
// on exactly in the middle of a round.
#include <cmath>
#include <limits>

#include "parallel/data_parallel/gossip.h"
#include "parallel/data_parallel/strategy_factory.h"
#include "parallel/trainer/checkpoint.h"
#include "runtime/error.h"
#include "tests/parallel/trainer/f32_model.h"
#include "tests/parallel/trainer/wide_model.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

using Values = std::vector<double>;

const char* const kStrategies[] = {"local-sgd:3", "diloco:3",           "diloco:2:0.5:0.25",
                                   "gossip:ring", "gossip:exponential", "gossip:random"};

ToyRun RunOf(const std::string& strategy, int replicas) {
  ToyRun run;
  run.options = {.replicas = replicas, .strategy = strategy, .seed = 5};
  run.global = 2 * replicas;
  return run;
}

// Equal shares: the toy's batches are whole in every third step.
BatchFn EvenBatches(const ToyRun& run) {
  return [batches = run.Batches()](int64_t step, const RankPlace& place) {
    return batches(3 * step, place);
  };
}

TrainingParts PlainSgd(const ToyRun& run) {
  TrainingParts parts = run.Parts();
  parts.optimizer = [](std::vector<NamedVariable> parameters) {
    return std::make_unique<Sgd>(std::move(parameters), SgdOptions{});
  };
  return parts;
}

// Replicas that know nothing of each other, each a trainer of its own, and what the weights of all
// are after each step. With 2 or 4 replicas of equal shares no scaling by a share rounds.
class Alone {
 public:
  explicit Alone(const ToyRun& run) : run_(run) {
    ToyRun one = run;
    one.options.replicas = 1;
    one.options.strategy = "ddp";
    for (int r = 0; r < run.options.replicas; ++r)
      trainers_.push_back(std::make_unique<Trainer>(one.options, run.Parts()));
  }

  void Step() {
    const auto step = trainers_[0]->step();
    for (size_t r = 0; r < trainers_.size(); ++r)
      trainers_[r]->Train(step + 1, [&](int64_t at, const RankPlace&) {
        MiniBatch batch =
            EvenBatches(run_)(at, {.replica = static_cast<int>(r), .first = true, .last = true});
        batch.global_samples = static_cast<int64_t>(batch.micro_batches[0].samples.size());
        return batch;
      });
  }

  // By replica.
  std::vector<Values> Weights(const std::string& name) const {
    std::vector<Values> all;
    for (const auto& trainer : trainers_)
      for (const NamedTensor& weight : trainer->State().weights)
        if (weight.name == name) all.push_back(ToVector<double>(weight.value));
    return all;
  }
  void Set(const std::string& name, const std::vector<Values>& of_replicas) {
    for (size_t r = 0; r < trainers_.size(); ++r) {
      std::vector<NamedTensor> weights = trainers_[r]->State().weights;
      for (NamedTensor& weight : weights)
        if (weight.name == name) weight.value = FromVector(of_replicas[r], weight.value.shape());
      trainers_[r]->SetWeights(weights);
    }
  }

 private:
  const ToyRun run_;
  std::vector<std::unique_ptr<Trainer>> trainers_;
};

// In pairs of neighbours, then pairs of pairs.
double SumOf(const std::vector<Values>& all, size_t i) {
  if (all.size() == 2) return all[0][i] + all[1][i];
  return (all[0][i] + all[1][i]) + (all[2][i] + all[3][i]);
}

Values MeanOf(const std::vector<Values>& all) {
  Values mean;
  for (size_t i = 0; i < all[0].size(); ++i)
    mean.push_back(SumOf(all, i) * (1.0 / static_cast<double>(all.size())));
  return mean;
}

const std::vector<std::string>& Names() {
  static const std::vector<std::string> names{"layer0.weight", "layer1.weight", "layer2.weight",
                                              "layer3.weight"};
  return names;
}

Values ValuesOf(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const NamedTensor& tensor : tensors)
    if (tensor.name == name) return ToVector<double>(tensor.value.To(DType::kF64));
  ADD_FAILURE() << "no " << name;
  return {};
}

void ExpectWeights(const Alone& alone, const ToyRun& run, int64_t steps) {
  Trainer trainer(run.options, run.Parts());
  trainer.Train(steps, EvenBatches(run));
  const TrainState state = trainer.State();
  const bool apart =
      ValuesOf(state.replicas, "round/place")[0] > 0 || run.options.strategy.starts_with("gossip");
  for (const std::string& name : Names()) {
    const std::vector<Values> want = alone.Weights(name);
    for (size_t r = 0; apart && r < want.size(); ++r)
      EXPECT_EQ(ValuesOf(state.replicas, fmt::format("replica {}/weights/{}", r, name)), want[r])
          << name << " of replica " << r;
    EXPECT_EQ(ValuesOf(state.weights, name), apart ? MeanOf(want) : want[0]) << name;
  }
}

TEST(LocalSgd, AveragesTheWeightsEveryHSteps) {
  for (const int replicas : {2, 4})
    for (const int64_t h : {1, 3}) {
      SCOPED_TRACE(fmt::format("{} replicas, rounds of {}", replicas, h));
      const ToyRun run = RunOf(fmt::format("local-sgd:{}", h), replicas);
      Alone alone(run);
      for (int64_t step = 0; step < 7; ++step) {
        alone.Step();
        if ((step + 1) % h == 0)
          for (const std::string& name : Names())
            alone.Set(name, std::vector(replicas, MeanOf(alone.Weights(name))));
      }
      ExpectWeights(alone, run, 7);
    }
}

// Rounded before anything is added to it, as kernels that each do one thing round.
[[gnu::noinline]] double Product(double a, double b) { return a * b; }

TEST(Diloco, TakesTheDocumentedOuterSteps) {
  for (const auto& [text, rate, momentum] :
       {std::tuple("diloco:2", 0.7, 0.9), std::tuple("diloco:2:0.5:0.25", 0.5, 0.25)}) {
    SCOPED_TRACE(text);
    const ToyRun run = RunOf(text, 4);
    Alone alone(run);
    std::map<std::string, Values> start, velocity;
    for (const std::string& name : Names()) {
      start[name] = alone.Weights(name)[0];
      velocity[name] = Values(start[name].size());
    }
    for (int64_t step = 0; step < 7; ++step) {
      alone.Step();
      if (step % 2 == 0) continue;
      for (const std::string& name : Names()) {
        const Values mean = MeanOf(alone.Weights(name));
        for (size_t i = 0; i < mean.size(); ++i) {
          double &w = start[name][i], &v = velocity[name][i];
          const double difference = w - mean[i];
          v = Product(momentum, v) + difference;
          const double move = Product(rate, Product(momentum, v) + difference);
          w = mean[i] - (move - difference);
        }
        alone.Set(name, std::vector(4, start[name]));
      }
    }
    ExpectWeights(alone, run, 7);
  }
}

TEST(Diloco, WithRate1AndNoMomentumGivesTheBitsOfLocalSgd) {
  for (const int replicas : {2, 3}) {
    ToyRun run = RunOf("local-sgd:3", replicas);
    run.options.stages = 2;
    const Outcome local = TrainFor(run, 8);
    run.options.strategy = "diloco:3:1:0";
    ExpectEqualBits(local, TrainFor(run, 8));
  }
}

TEST(Gossip, MixesByTheDocumentedWeights) {
  for (const auto& [text, graph] : {std::pair("gossip:ring", GossipGraph::kRing),
                                    std::pair("gossip:exponential", GossipGraph::kExponential),
                                    std::pair("gossip:random", GossipGraph::kRandom)})
    for (const int replicas : {2, 4}) {
      SCOPED_TRACE(fmt::format("{}, {} replicas", text, replicas));
      const ToyRun run = RunOf(text, replicas);
      Alone alone(run);
      for (int64_t step = 0; step < 5; ++step) {
        alone.Step();
        for (const std::string& name : Names()) {
          const std::vector<Values> own = alone.Weights(name);
          std::vector<Values> mixed;
          for (int r = 0; r < replicas; ++r) {
            std::vector<int> terms = NeighboursOf(graph, r, replicas, 5, step).from;
            terms.push_back(r);
            std::ranges::sort(terms);
            Values sum = own[terms[0]];
            for (size_t k = 1; k < terms.size(); ++k)
              for (size_t i = 0; i < sum.size(); ++i) sum[i] += own[terms[k]][i];
            for (double& value : sum) value *= 1.0 / static_cast<double>(terms.size());
            mixed.push_back(sum);
          }
          alone.Set(name, mixed);
        }
      }
      ExpectWeights(alone, run, 5);
    }
}

// The mean of w - rate x gradient is w - rate x mean gradient, but for rounding: some 16 roundings
// a step of values below 2, which the later steps change by at most the sum of the rates (below
// 0.4) times the curvature (below 12).
TEST(LocalSgd, OfOneStepIsDdpForPlainSgd) {
  constexpr int64_t kSteps = 20;
  const double tolerance = kSteps * 16 * 2 * 0x1p-53 * std::exp(0.4 * 12);
  ToyRun run = RunOf("ddp", 3);
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

// Uneven parts, and a step that all skip.
BatchFn BatchesWithABadStep(const ToyRun& run) {
  return [good = run.Batches()](int64_t step, const RankPlace& place) {
    MiniBatch batch = good(step, place);
    if (step == kBadStep && place.replica == 1 && place.last)
      batch.micro_batches[0].targets = {Full(batch.micro_batches[0].targets[0].shape(),
                                             std::numeric_limits<double>::infinity(), DType::kF64)};
    return batch;
  };
}

// Tied, frozen and unused weights, clipping and AdamW.
struct WideRun {
  explicit WideRun(const std::string& strategy, int stages = 2) : run(RunOf(strategy, 3)) {
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
    trainer->Train(end, BatchesWithABadStep(run),
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
  ToyRun two = RunOf("local-sgd:8", 2);
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
    ToyRun run = RunOf(strategy, 3);
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
    ToyRun run = RunOf(strategy, 2);
    const Outcome plain = TrainFor(run, 8);
    run.options.loss_scale = LossScale(1024, 2);
    ExpectEqualBits(plain, TrainFor(run, 8));
  }
}

TEST(WeightExchange, EvaluatesTheMeanAndLeavesTheReplicasApart) {
  for (const std::string strategy : {"local-sgd:4", "diloco:4", "gossip:ring"}) {
    SCOPED_TRACE(strategy);
    const ToyRun run = RunOf(strategy, 3);
    Trainer trainer(run.options, run.Parts()), other(run.options, run.Parts());
    trainer.Train(6, run.Batches());
    other.Train(6, run.Batches());
    const double loss = trainer.Evaluate(2, run.Batches()).loss;
    Trainer equal(RunOf("ddp", 3).options, run.Parts());
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
  ToyRun run = RunOf("local-sgd:5", 2);
  Trainer trainer(run.options, run.Parts());
  trainer.Train(5, BatchesWithABadStep(run));
  EXPECT_EQ(trainer.totals().skipped_steps, 1);
  EXPECT_GT(Drift(trainer.totals().ranks), 0);
  trainer.Train(6, BatchesWithABadStep(run));
  EXPECT_EQ(Drift(trainer.totals().ranks), 0);
  trainer.Train(7, BatchesWithABadStep(run));
  EXPECT_GT(Drift(trainer.totals().ranks), 0);
}

uint64_t BytesSent(const ToyRun& run, int64_t steps, bool f32 = false) {
  TrainingParts parts = run.Parts();
  if (f32) parts.model = ModelOfF32;
  Trainer trainer(run.options, parts);
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
    EXPECT_EQ(BytesSent(RunOf(strategy, 3), 8), rounds * 2 * 2 * (kWeights + kCounts)) << strategy;
  EXPECT_EQ(BytesSent(RunOf("ddp", 3), 8), BytesSent(RunOf("local-sgd:1", 3), 8));
  for (const int64_t steps : {1, 4}) {
    const uint64_t each = kWeights * static_cast<uint64_t>(steps);
    EXPECT_EQ(BytesSent(RunOf("gossip:ring", 4), steps), 4 * 2 * each);
    EXPECT_EQ(BytesSent(RunOf("gossip:ring", 2), steps), 2 * each);
    EXPECT_EQ(BytesSent(RunOf("gossip:exponential", 3), steps), 3 * each);
    EXPECT_EQ(BytesSent(RunOf("gossip:random", 3), steps), 2 * each) << "one stays alone";
  }
}

ToyRun CodedRun(const char* codec) {
  ToyRun run = RunOf("diloco:2", 3);
  run.f32 = true;
  if (codec != nullptr) run.options.reduce_codec = Named(codec);
  return run;
}

TrainState TrainCoded(const char* codec, int64_t steps, const TrainState& from = {}) {
  const ToyRun run = CodedRun(codec);
  TrainingParts parts = run.Parts();
  parts.model = ModelOfF32;
  Trainer trainer(run.options, parts);
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
  ToyRun run = RunOf("ddp", options.replicas);
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
