// Strategies that exchange weights give the bits of a reference that runs every replica alone and
// averages by hand.
#include <map>
#include <memory>

#include "parallel/data_parallel/gossip.h"
#include "tests/parallel/trainer/exchange_run.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

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
      const ToyRun run = ExchangeRun(fmt::format("local-sgd:{}", h), replicas);
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
    const ToyRun run = ExchangeRun(text, 4);
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
    ToyRun run = ExchangeRun("local-sgd:3", replicas);
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
      const ToyRun run = ExchangeRun(text, replicas);
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

}  // namespace
}  // namespace torus::parallel
