// How tensor-parallel runs go together with schedules, strategies and states: the same bits, and
// the bytes of the closed form.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

#include "parallel/collectives/all_reduce.h"
#include "parallel/schedule/tensor_parallel.h"
#include "parallel/transport/decorated_transport.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "tests/recipes/model/split_models.h"
#include "tests/testing/same_bits.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words
using namespace testing;   // NOLINT: the models

void ExpectSameBits(const TrainState& a, const TrainState& b) {
  EXPECT_EQ(a.step, b.step);
  torus::testing::ExpectSameBits(a.weights, b.weights);
  torus::testing::ExpectSameBits(a.optimizer, b.optimizer);
  torus::testing::ExpectSameBits(a.averages, b.averages);
}

struct Result {
  std::vector<double> losses;
  TrainState state;
};

Result Train(const SplitKind& split, const TrainerOptions& options, bool recompute = false) {
  SplitRun run(split, options, recompute);
  Result result{run.Steps(3)};
  result.state = run.trainer->State();
  return result;
}

void ExpectSameBits(const Result& a, const Result& b) {
  EXPECT_EQ(a.losses, b.losses);
  ExpectSameBits(a.state, b.state);
}

TEST(TensorLayouts, EveryScheduleAndCutGivesTheSameBits) {
  for (const SplitKind& split : SplitKinds()) {
    SCOPED_TRACE(split.kind.name);
    TrainerOptions options = SplitOptions(2);
    const Result one = Train(split, options);
    ExpectSameBits(Train(split, options, true), one);
    options.stages = 2;
    for (const char* schedule : {"gpipe", "1f1b", "zb-h1"}) {
      SCOPED_TRACE(schedule);
      options.schedule = schedule;
      ExpectSameBits(Train(split, options), one);
    }
    options = SplitOptions(2, 4);
    options.schedule = "interleaved";
    options.chunks = 2;
    ExpectSameBits(Train(split, options), one);
  }
}

TEST(TensorLayouts, EveryStrategyGivesTheSameBits) {
  for (const SplitKind& split : SplitKinds()) {
    SCOPED_TRACE(split.kind.name);
    TrainerOptions options = SplitOptions(2, 1, 2);
    const Result ddp = Train(split, options);
    for (const char* strategy : {"dataparallel", "ps", "ps-sharded", "zero1", "fsdp"}) {
      SCOPED_TRACE(strategy);
      options.strategy = strategy;
      ExpectSameBits(Train(split, options), ddp);
    }
  }
}

// States are whole: those of any number of ranks go on with any other. What is read and written
// again has the same bits.
TEST(TensorLayouts, AStateGoesOnWithAnyNumberOfRanks) {
  for (const SplitKind& split : SplitKinds()) {
    SCOPED_TRACE(split.kind.name);
    const SplitRun one(split, SplitOptions(1));
    SplitRun two(split, SplitOptions(2));
    // Slices of what one rank begins with.
    ExpectSameBits(two.trainer->State(), one.trainer->State());
    two.Steps(2);
    const TrainState state = two.trainer->State();
    for (const int tensor : {1, 2, 4}) {
      const SplitRun other(split, SplitOptions(tensor, 2));
      other.trainer->SetState(state);
      ExpectSameBits(other.trainer->State(), state);
    }
    SplitRun again(split, SplitOptions(2));
    again.trainer->SetState(state);
    EXPECT_EQ(again.Steps(2), two.Steps(2));
    ExpectSameBits(again.trainer->State(), two.trainer->State());
  }
}

std::vector<NamedTensor> ReplicasOf(const SplitRun& run) {
  std::vector<NamedTensor> replicas = run.trainer->State().replicas;
  std::ranges::sort(replicas, {}, &NamedTensor::name);
  return replicas;
}

// What each replica alone has is whole too.
TEST(TensorLayouts, ReplicasThatExchangeWeightsGoOnInTheMiddleOfARound) {
  for (const SplitKind& split : SplitKinds())
    for (const char* strategy : {"diloco:2", "gossip:ring"}) {
      SCOPED_TRACE(split.kind.name + std::string(", ") + strategy);
      TrainerOptions options = SplitOptions(2, 1, 2);
      options.ema_decay = 0;
      options.strategy = strategy;
      SplitRun whole(split, options);
      whole.Steps(3);
      const TrainState state = whole.trainer->State();
      const std::vector<NamedTensor> replicas = ReplicasOf(whole);
      const std::vector<double> losses = whole.Steps(2);
      for (const auto& [tensor, stages] : {std::pair(2, 1), std::pair(2, 2), std::pair(1, 1)}) {
        options.tensor = tensor;
        options.stages = stages;
        SplitRun other(split, options);
        other.trainer->SetState(state);
        ExpectSameBits(other.trainer->State(), state);
        torus::testing::ExpectSameBits(ReplicasOf(other), replicas);
        if (tensor == 1) continue;  // which computes in another order
        EXPECT_EQ(other.Steps(2), losses);
        ExpectSameBits(other.trainer->State(), whole.trainer->State());
        torus::testing::ExpectSameBits(ReplicasOf(other), ReplicasOf(whole));
      }
    }
}

// What all ranks have whole stays equal on them, though nobody sends it.
TEST(TensorLayouts, WhatIsNotSplitHasTheSameGradientOnAllRanks) {
  for (const SplitKind& split : SplitKinds()) {
    SCOPED_TRACE(split.kind.name);
    std::set<std::string> splits;
    for (const Block& block : BlocksOf(split.kind, false))
      for (const NamedSplit& one : block.splits) splits.insert(one.name);
    SplitRun run(split, SplitOptions(4));
    run.Steps(3);
    ASSERT_EQ(run.gradients.size(), 4u);
    int compared = 0;
    for (const auto& [name, gradient] : run.gradients.at(0)) {
      if (splits.contains(name)) continue;
      ++compared;
      for (int rank = 1; rank < 4; ++rank)
        torus::testing::ExpectSameBits({{name, run.gradients.at(rank).at(name)}},
                                       {{name, gradient}});
    }
    EXPECT_GT(compared, 2 * kSplitLayers);
  }
}

// Ranks 0 to 2 on one host, 3 on another.
class TwoHosts : public DecoratedTransport {
 public:
  using DecoratedTransport::DecoratedTransport;
  std::vector<int> SameHost() const override {
    return rank() < 3 ? std::vector{0, 1, 2} : std::vector{3};
  }
};

// oneDNN's sums depend on how many threads make them.
TEST(TensorLayouts, RanksThatShareLayersHaveEqualTeamsOnUnlikeHosts) {
  TrainerOptions options = SplitOptions(2, 1, 2);
  options.threads = 6;
  options.wrap_transport = [](Transport& inner) { return std::make_unique<TwoHosts>(inner); };
  std::map<int, std::set<int>> threads;
  std::mutex mutex;
  options.before_action = [&](const RankPlace& place, const Action&, int64_t) {
    const std::lock_guard lock(mutex);
    threads[place.rank].insert(TeamSize());
  };
  SplitRun(SplitKinds().front(), options).Step();
  const std::set<int> third{std::min(6 / 3, omp_get_thread_limit())};
  EXPECT_EQ(threads,
            (std::map<int, std::set<int>>{{0, third}, {1, third}, {2, third}, {3, third}}));
}

// Of rank `rank`, in one step of GPT-2: the sums of its passes, of all tokens; four numbers a token
// to every other rank; and the squares of the clipping norm, of which ranks may have parts that
// differ by one.
uint64_t GptBytes(int ranks, int rank, int64_t parameters) {
  const int64_t tokens = kRows * kTokens, micro_batches = 4;
  const double passes = TensorParallelBytes(
      ranks, {.blocks = kSplitLayers,
              .embedding = true,
              .head = true,
              .activation_bytes = tokens / micro_batches * kSplitWidth * sizeof(double)});
  EXPECT_EQ(passes, std::round(passes)) << "ranks must divide the tokens for equal parts";
  return micro_batches * static_cast<uint64_t>(passes) + 4 * tokens * (ranks - 1) * sizeof(double) +
         AllReduceBytesSent(AllReduceAlgorithm::kDirect, ranks, rank, parameters, sizeof(double));
}

TEST(TensorLayouts, BytesAreTheClosedForm) {
  const SplitKind& gpt2 = SplitKinds().front();
  int64_t parameters = 0;
  for (const Block& block : BlocksOf(gpt2.kind, false)) parameters += std::ssize(block.parameters);
  --parameters;  // the tied one
  for (const int ranks : {2, 4}) {
    SplitRun run(gpt2, SplitOptions(ranks));
    run.Steps(2);
    std::map<int, uint64_t> sent;
    for (const LinkBytes& link : run.trainer->totals().links) {
      EXPECT_EQ(link.what, "tensor-parallel");
      sent[link.from] += link.sent;
    }
    ASSERT_EQ(sent.size(), static_cast<size_t>(ranks));
    for (const auto& [rank, bytes] : sent) EXPECT_EQ(bytes, 2 * GptBytes(ranks, rank, parameters));
  }
}

TEST(TensorLayouts, LinksAreNamedByWhoTalks) {
  SplitRun run(SplitKinds().front(), SplitOptions(2, 2, 2));
  run.Step();
  std::set<std::string> kinds;
  for (const LinkBytes& link : run.trainer->totals().links) {
    kinds.insert(link.what);
    EXPECT_EQ(link.what == "tensor-parallel", link.from / 2 == link.to / 2);
    // Else those talk alone that have the same slice.
    EXPECT_TRUE(link.what == "tensor-parallel" || link.from % 2 == link.to % 2);
  }
  EXPECT_EQ(kinds,
            (std::set<std::string>{"activations", "gradients", "all-reduce", "tensor-parallel"}));
}

void ExpectRefused(const SplitKind& split, int tensor, const std::string& why) {
  try {
    const SplitRun run(split, SplitOptions(tensor));
    FAIL() << "was not refused";
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

TEST(TensorLayouts, RefusesWhatCannotBeSplit) {
  for (const SplitKind& split : SplitKinds())
    ExpectRefused(split, 3,
                  "3 tensor-parallel ranks (--tensor) must divide its heads, got " +
                      std::to_string(split.heads));
  ExpectRefused({Kinds().front()}, 2, "need blocks that can be split, got none");
  const Kind logits{"Gpt2",
                    [] {
                      Gpt2Options options = SplitGpt2();
                      options.head_in_loss = false;
                      return Gpt2(options);
                    },
                    Tokens, nn::NextTokenLoss};
  ExpectRefused({logits}, 2, "must be left to the loss");
  const Kind few{"Gpt2",
                 [] {
                   Gpt2Options options = SplitGpt2();
                   options.vocab_size = 3;
                   return Gpt2(options);
                 },
                 Tokens, nn::NextTokenLoss};
  ExpectRefused({few}, 4, "need a token each, got a vocabulary of 3");
}

}  // namespace
}  // namespace torus::recipes
