#include "parallel/trainer/trainer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>

#include "parallel/transport/decorated_transport.h"
#include "runtime/error.h"
#include "runtime/trace.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using testing::ExpectEqualBits;
using testing::Outcome;
using testing::ToyRun;
using testing::TrainFor;

TEST(Trainer, EveryCutGivesTheSameBits) {
  ToyRun run;
  run.options = {.micro_batches = 3, .seed = 5};
  testing::ExpectEveryCutGivesTheSameBits(run);
}

TEST(Trainer, EveryCutGivesTheSameBitsWithReplicasToo) {
  for (const int replicas : {2, 3, 4}) {
    ToyRun run;
    run.options = {.replicas = replicas, .micro_batches = 2, .seed = 5};
    testing::ExpectEveryCutGivesTheSameBits(run);
  }
}

// What the test above must see where sums depend on an element's place among the gradients. How a
// compiler rounds decides for which seeds the sums differ.
TEST(Trainer, ARingOfThreeReplicasGivesEachCutBitsOfItsOwn) {
  int differ = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    ToyRun run;
    run.options = {.replicas = 3, .micro_batches = 2, .collectives = "ring", .seed = seed};
    const Outcome one = TrainFor(run, 8);
    run.options.stages = 2;
    const Outcome two = TrainFor(run, 8);
    for (size_t i = 0; i < one.state.weights.size(); ++i)
      differ += ToVector<double>(one.state.weights[i].value.To(DType::kF64)) !=
                ToVector<double>(two.state.weights[i].value.To(DType::kF64));
  }
  EXPECT_GT(differ, 0);
}

class CountedSgd : public Sgd {
 public:
  CountedSgd(std::vector<NamedVariable> parameters, std::atomic<int>& asked)
      : Sgd(std::move(parameters), SgdOptions{.momentum = 0.9}), asked_(asked) {}
  std::vector<NamedTensor> State() const override {
    ++asked_;
    return Sgd::State();
  }

 private:
  std::atomic<int>& asked_;
};

// It makes a name for each tensor.
TEST(Trainer, NoStepAsksForTheNamedStateOfTheOptimizer) {
  ToyRun run;
  run.options = {.stages = 2, .replicas = 2, .micro_batches = 3};
  std::atomic<int> asked = 0;
  TrainingParts parts = run.Parts();
  parts.optimizer = [&](std::vector<NamedVariable> parameters) {
    return std::make_unique<CountedSgd>(std::move(parameters), asked);
  };
  Trainer trainer(run.options, parts);
  trainer.Train(1, run.Batches());
  const int before = asked;
  trainer.Train(9, run.Batches());
  EXPECT_EQ(asked, before);
  const TrainState state = trainer.State();
  EXPECT_FALSE(state.optimizer.empty());
  EXPECT_GT(asked, before);
}

thread_local bool in_scope = false;

TEST(Trainer, TheScopeOfAThreadHoldsWhileItsRankWorks) {
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 2};
  std::atomic<int> scopes = 0, outside = 0;
  run.options.thread_scope = [&](const RankPlace& place, Device device) {
    EXPECT_LT(place.rank, 2);
    EXPECT_EQ(device.kind, DeviceKind::kCpu);
    ++scopes;
    in_scope = true;
    return std::shared_ptr<void>(nullptr, [](void*) { in_scope = false; });
  };
  run.options.before_action = [&](const RankPlace&, const Action&, int64_t) {
    if (!in_scope) ++outside;
  };
  Trainer trainer(run.options, run.Parts());
  EXPECT_EQ(scopes, 2) << "to prepare";
  trainer.Train(2, run.Batches());
  EXPECT_EQ(scopes, 4);
  trainer.Evaluate(1, run.Batches());
  EXPECT_EQ(scopes, 6);
  EXPECT_EQ(outside, 0);
}

TEST(Trainer, EveryScheduleGivesTheSameBits) {
  for (const int replicas : {1, 2}) {
    ToyRun run;
    run.options = {.replicas = replicas, .micro_batches = 3, .seed = 5, .clip_norm = 0.05};
    testing::ExpectEveryScheduleGivesTheSameBits(run, run.Parts());
  }
}

// Stage 0 stays in its forward of micro-batch 1 until stage 1 is in that of micro-batch 0, and the
// other way round: they can only meet when both are at work.
TEST(Trainer, StagesWorkAtTheSameTimeAndTheTraceShowsIt) {
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 2, .timeout = 60};
  TrainingParts parts = run.Parts();
  const auto meeting = std::make_shared<std::latch>(2);
  parts.model = [meeting] {
    std::vector<Block> model = testing::ToyModel(4);
    for (const int b : {0, 3}) {
      model[b].forward = [=, forward = model[b].forward](const auto& x,
                                                         const StepContext& context) {
        if (context.training && context.micro_batch == (b == 0 ? 1 : 0)) meeting->arrive_and_wait();
        return forward(x, context);
      };
    }
    return model;
  };
  Trainer trainer(run.options, parts);
  trace::Drain();
  trainer.Train(1, run.Batches(), {.trace = [](int64_t) { return true; }});
  const std::vector<trace::Event> events = trace::Drain();
  const auto find = [&](int rank, const char* name) {
    return *std::find_if(events.begin(), events.end(), [&](const trace::Event& e) {
      return e.rank == rank && e.name == name && e.category == "forward";
    });
  };
  const trace::Event first = find(0, "F1"), second = find(1, "F0");
  EXPECT_LT(first.begin_ns, second.end_ns);
  EXPECT_LT(second.begin_ns, first.end_ns);
}

// Rank 1 has nothing to sum with another replica, but must know that rank 0 is done and finite.
TEST(Trainer, AWaitForOtherStagesIsNoReduction) {
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 2};
  Trainer trainer(run.options, run.Parts());
  trace::Drain();
  trace::Enable(true);
  trainer.Train(1, run.Batches());
  trace::Enable(false);
  const std::vector<trace::Event> events = trace::Drain();
  const auto find = [&](int rank, const std::string& category, const std::string& name) {
    return *std::find_if(events.begin(), events.end(), [&](const trace::Event& e) {
      return e.rank == rank && e.category == category && e.name.starts_with(name);
    });
  };
  const trace::Event reduce = find(1, "reduce", ""), wait = find(1, "idle", "wait " + reduce.name);
  EXPECT_EQ(wait.begin_ns, reduce.end_ns);
  EXPECT_GE(wait.end_ns, find(0, "backward", "B1").end_ns);
  EXPECT_LE(reduce.begin_ns, reduce.end_ns);
}

TEST(Trainer, Learns) {
  ToyRun run;
  run.blocks = 2;
  run.options = {.stages = 2, .micro_batches = 2};
  TrainingParts parts = run.Parts();
  parts.learning_rate = [](int64_t) { return 0.05; };
  Trainer trainer(run.options, parts);
  const double before = trainer.Evaluate(5, run.Batches()).loss;
  trainer.Train(200, run.Batches());
  EXPECT_LT(trainer.Evaluate(5, run.Batches()).loss, before / 2);
}

TEST(Trainer, GoesOnFromAStateInTheBitsOfNeverStopping) {
  ToyRun run;
  run.options = {.stages = 2, .replicas = 2, .micro_batches = 2};
  const Outcome whole = TrainFor(run, 7);
  const Outcome half = TrainFor(run, 4);
  Trainer trainer(run.options, run.Parts());
  trainer.SetState(half.state);
  Outcome resumed{half.losses, {}};
  trainer.Train(7, run.Batches(),
                {.on_step = [&](const StepReport& r) { resumed.losses.push_back(r.loss); }});
  resumed.state = trainer.State();
  ExpectEqualBits(whole, resumed);
}

TEST(Trainer, ReplicasGiveTheGradientsOfOneFromItsState) {
  // Every one of 20 steps starts from the one-replica state; only the order of the sum of the
  // micro-batches' gradients differs.
  using Grads = std::map<std::string, std::vector<double>>;
  std::mutex mutex;
  const auto watch = [&](Grads& grads) {
    return [&](const RankPlace& place, int64_t, const std::vector<NamedVariable>& parameters) {
      const std::lock_guard lock(mutex);
      for (const NamedVariable& p : parameters)
        if (place.replica == 0) grads[p.name] = ToVector<double>(p.value.grad());
    };
  };
  Grads one_grads, many_grads;
  ToyRun one, many;
  one.options = {.stages = 2, .micro_batches = 6, .on_gradients = watch(one_grads)};
  many.options = {
      .stages = 2, .replicas = 3, .micro_batches = 2, .on_gradients = watch(many_grads)};
  Trainer a(one.options, one.Parts()), b(many.options, many.Parts());
  for (int64_t step = 0; step < 20; ++step) {
    b.SetState(a.State());
    a.Train(step + 1, one.Batches());
    b.Train(step + 1, many.Batches());
    ASSERT_EQ(one_grads.size(), 4u);
    for (const auto& [name, grad] : one_grads) {
      const std::vector<double>& other = many_grads.at(name);
      ASSERT_EQ(grad.size(), other.size());
      // Six terms of size at most 1 each (inputs and targets lie in [-1, 1]), five roundings.
      for (size_t i = 0; i < grad.size(); ++i) EXPECT_NEAR(grad[i], other[i], 6 * 5 * 2.3e-16);
    }
  }
}

TEST(Trainer, ReplicasStayEqualBitForBit) {
  ToyRun run;
  run.options = {.stages = 2, .replicas = 3, .micro_batches = 2};
  testing::ExpectReplicasStayEqual(run, 10);
}

TEST(Trainer, StopsEveryRankAtTheSameStep) {
  ToyRun run;
  run.options = {.stages = 3, .replicas = 2, .micro_batches = 2};
  Trainer trainer(run.options, run.Parts());
  std::atomic<int64_t> done{0};
  trainer.Train(100, run.Batches(),
                {.stop = [&] { return done >= 5; }, .on_step = [&](const StepReport&) { ++done; }});
  EXPECT_EQ(trainer.step(), done);
  EXPECT_GE(trainer.step(), 5);
  EXPECT_LT(trainer.step(), 8);
  trainer.Train(trainer.step() + 2, run.Batches());  // and it can go on
  EXPECT_EQ(trainer.step(), done + 2);
}

// Counts the bytes of collectives.
class CountingTransport : public DecoratedTransport {
 public:
  CountingTransport(Transport& transport, std::atomic<size_t>& bytes)
      : DecoratedTransport(transport), bytes_(bytes) {}
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    if (tag.kind == TagClass::kCollective) bytes_ += buffer.bytes;
    return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
  }

 private:
  std::atomic<size_t>& bytes_;
};

TEST(Trainer, EvaluatesWithoutSendingParametersThatAllReplicasHave) {
  std::atomic<size_t> bytes = 0;
  ToyRun run;
  run.options = {.stages = 2, .replicas = 3, .micro_batches = 2};
  run.options.wrap_transport = [&](Transport& transport) {
    return std::make_unique<CountingTransport>(transport, bytes);
  };
  Trainer trainer(run.options, run.Parts());
  trainer.Train(2, run.Batches());
  trainer.SetState(trainer.State());
  EXPECT_GT(bytes, 0u);
  bytes = 0;
  trainer.Evaluate(2, run.Batches());
  EXPECT_EQ(bytes, 0u);
}

TEST(Trainer, EvaluatesAllReplicasAlikeAndChangesNothing) {
  ToyRun one, many;
  one.options = {.micro_batches = 6};
  many.options = {.stages = 2, .replicas = 3, .micro_batches = 2};
  Trainer a(one.options, one.Parts()), b(many.options, many.Parts());
  const TrainState before = b.State();
  const EvaluationResult x = a.Evaluate(3, one.Batches()), y = b.Evaluate(3, many.Batches());
  EXPECT_EQ(x.samples, 12 + 12 + 11);
  EXPECT_EQ(y.samples, x.samples);
  EXPECT_NEAR(x.loss, y.loss, 1e-14);  // of size 1, 35 terms in another order
  ExpectEqualBits(before.weights, b.State().weights);
  EXPECT_EQ(b.totals().steps, 0);
}

TEST(Trainer, CountsTimeAndBytes) {
  ToyRun run;
  run.options = {.stages = 2, .replicas = 2, .micro_batches = 2};
  Trainer trainer(run.options, run.Parts());
  trainer.Train(3, run.Batches());
  const TrainTotals& totals = trainer.totals();
  EXPECT_EQ(totals.steps, 3);
  EXPECT_EQ(totals.samples, 12 + 12 + 11);
  EXPECT_DOUBLE_EQ(totals.bubble.ideal, 1.0 / 3);
  ASSERT_EQ(totals.ranks.size(), 4u);
  for (const RankTime& t : totals.ranks) {
    EXPECT_GT(t.forward, 0);
    EXPECT_GT(t.backward, 0);
    // What is left of the wall time: negative if anything were counted twice.
    EXPECT_GE(t.other, 0);
    EXPECT_LT(t.other, t.wall);
  }
  uint64_t activations = 0, gradients = 0, reduced = 0;
  for (const LinkBytes& link : totals.links) {
    if (link.what == "activations") activations += link.sent;
    if (link.what == "gradients") gradients += link.sent;
    if (link.what == "all-reduce") reduced += link.sent;
    EXPECT_EQ(link.sent, link.uncompressed);
  }
  const uint64_t crossed = (12 + 12 + 11) * testing::kWidth * sizeof(double);
  EXPECT_EQ(activations, crossed);
  EXPECT_EQ(gradients, crossed);
  // Two replicas: each sends its bucket once, a step and stage; four weights in all, and for each
  // the count of replicas that have its gradient.
  EXPECT_EQ(reduced, 3 * 2 * 4 * (testing::kWidth * testing::kWidth + 1) * sizeof(double));
}

TEST(Trainer, RefusesWhatDoesNotFit) {
  const auto make = [](TrainerOptions options) {
    ToyRun run;
    run.options = std::move(options);
    Trainer trainer(run.options, run.Parts());
  };
  EXPECT_THROW(make({.stages = 5}), BadInput);
  EXPECT_THROW(make({.stages = 2, .cuts = {1, 2}}), BadInput);
  EXPECT_THROW(make({.stages = 2, .cuts = {4}}), BadInput);
  EXPECT_THROW(make({.stages = 3, .chunks = 2, .schedule = "interleaved"}), BadInput);
  EXPECT_THROW(make({.stages = 2, .chunks = 2, .schedule = "gpipe"}), BadInput);
  EXPECT_THROW(make({.replicas = 0}), BadInput);
  EXPECT_THROW(make({.threads = 0}), BadInput);
  EXPECT_THROW(make({.schedule = "dualpipe"}), BadInput);
  EXPECT_THROW(make({.collectives = "star"}), BadInput);
}

TEST(Trainer, RefusesAStateOfAnotherModel) {
  ToyRun small, large;
  large.blocks = 5;
  Trainer a(small.options, small.Parts()), b(large.options, large.Parts());
  a.Train(1, small.Batches());
  const TrainState before = b.State();
  try {
    b.SetState(a.State());
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("layer4.weight"), std::string::npos) << error.what();
  }
  ExpectEqualBits(before.weights, b.State().weights);
}

}  // namespace
}  // namespace torus::parallel
