// Replicas of a pipeline agree with each other bit for bit, and with one replica as far as the
// order of sums allows.
#include "parallel/data_parallel/data_parallel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <mutex>

#include "autograd/backward.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduction/reduction.h"
#include "parallel/codec/make_codec.h"
#include "parallel/pipeline/partition.h"
#include "parallel/schedule/factory.h"
#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/group.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "tests/parallel/pipeline/tiny_model.h"

namespace torus::parallel {
namespace {

constexpr int kMicroBatches = 6;

struct Job {
  int replicas = 1, stages = 1, steps = 1, samples = 11;
  int micro_batches = kMicroBatches;  // over all replicas
  size_t bucket_bytes = 100;          // small: several buckets
  AllReduceAlgorithm all_reduce = AllReduceAlgorithm::kDirect;
  bool descend = true;
  bool overlap = true;  // the all-reduce and the last backward
  std::string codec = "none";
};

struct Result {
  std::vector<tiny::Values> parameters, gradients;  // one a replica
  double loss = 0;                                  // of the last step, summed over the replicas
  int early = 0;  // messages of all-reduces that were started before the last backward had ended
};

// Counts the messages that are started.
class CountingTransport : public DecoratedTransport {
 public:
  using DecoratedTransport::DecoratedTransport;
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    ++started_;
    return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
  }
  int started() const { return started_; }

 private:
  int started_ = 0;
};

Cuts CutsFor(int stages) { return stages == 1 ? Cuts{} : stages == 2 ? Cuts{4} : Cuts{2, 4}; }

void CollectGradients(const std::vector<NamedVariable>& parameters, tiny::Values& values) {
  for (const NamedVariable& p : parameters) values[p.name] = ToVector<float>(p.value.grad());
}

std::shared_ptr<Codec> CodecOf(const std::string& name) {
  return name == "none" ? nullptr : MakeCodec(name);
}

std::vector<int> Ranks(int first, int step, int count) {
  std::vector<int> ranks;
  for (int i = 0; i < count; ++i) ranks.push_back(first + i * step);
  return ranks;
}

// World rank = replica * stages + stage.
void RunRank(const Job& run, Transport& world, Result& result, std::mutex& mutex) {
  const int replica = world.rank() / run.stages, stage = world.rank() % run.stages;
  Group pipeline(world, Ranks(replica * run.stages, 1, run.stages));
  Group group(world, Ranks(stage, run.stages, run.replicas));
  CountingTransport replicas(group);
  // Replicas begin with other values of their own: the broadcast makes them equal.
  std::vector<Stage> stages = MakeStages(tiny::MakeBlocks(1 + replica), CutsFor(run.stages));
  const std::vector<NamedVariable> parameters = stages[stage].Parameters();
  Communicator communicator(replicas, {run.all_reduce});
  DataParallel data_parallel(communicator, parameters,
                             {.bucket_bytes = run.bucket_bytes, .codec = CodecOf(run.codec)});
  data_parallel.BroadcastWeights("test");
  ExecutorOptions options;
  options.loss = tiny::Loss;
  int before = 0;
  if (run.overlap)
    options.on_last_backward = [&](int, int64_t) {
      before = replicas.started();
      data_parallel.BeginLastBackward("test");
    };
  options.on_reduce = [&](int, int64_t step) {
    const int early = run.overlap ? replicas.started() - before : 0;
    data_parallel.ReduceGradients(fmt::format("step {}, stage {}", step, stage), 1);
    const std::lock_guard lock(mutex);
    CollectGradients(parameters, result.gradients[replica]);
    result.early += early;
    return 0.0;
  };
  options.on_step = [&](int, int64_t) {
    tiny::Descend(parameters, run.descend ? 0.1f : 0.0f);
    return true;
  };
  const int m = run.micro_batches / run.replicas;
  Executor executor(pipeline, MakeSchedule("gpipe", {run.stages, m}), {{stage, &stages[stage]}},
                    options);
  executor.AgreeOnShapes(tiny::InputSpecs(run.samples, run.micro_batches));
  StepResult last;
  for (int step = 0; step < run.steps; ++step) {
    last =
        executor.Run(tiny::MakeBatch(step, run.samples, run.micro_batches, replica, run.replicas),
                     RunMode::kTrain);
  }
  const std::lock_guard lock(mutex);
  tiny::Collect(parameters, result.parameters[replica]);
  result.loss += last.loss;
}

Result Train(const Job& run) {
  Result result;
  result.parameters.resize(run.replicas);
  result.gradients.resize(run.replicas);
  std::mutex mutex;
  RunRanks(run.replicas * run.stages,
           [&](Transport& world) { RunRank(run, world, result, mutex); });
  return result;
}

TEST(DataParallel, AllReplicasHoldEqualBits) {
  for (const int replicas : {2, 3, 6}) {
    for (const int stages : {1, 2, 3}) {
      const Result result = Train({.replicas = replicas, .stages = stages, .steps = 5});
      for (int r = 1; r < replicas; ++r) {
        EXPECT_EQ(result.parameters[r], result.parameters[0]) << replicas << " x " << stages;
        EXPECT_EQ(result.gradients[r], result.gradients[0]);
      }
      EXPECT_EQ(result.parameters[0].size(), 8u);
    }
  }
}

// Chunks begin in the middle of parameters, and elsewhere in them for every cut and bucket size.
TEST(DataParallel, NeitherTheCutNorTheBucketsChangeTheBitsOfADirectAllReduce) {
  for (const int replicas : {3, 4}) {
    const Result one = Train({.replicas = replicas, .steps = 5, .micro_batches = 12});
    for (const int stages : {1, 2, 3})
      for (const size_t bucket_bytes : {1, 100, 250, 1 << 20})
        EXPECT_EQ(Train({.replicas = replicas,
                         .stages = stages,
                         .steps = 5,
                         .micro_batches = 12,
                         .bucket_bytes = bucket_bytes})
                      .parameters,
                  one.parameters)
            << replicas << " replicas, " << stages << " stages, " << bucket_bytes << " bytes";
  }
}

// What the test above must see where sums depend on an element's place in its bucket.
TEST(DataParallel, TheCutChangesTheBitsOfARingWithMoreThanTwoReplicas) {
  for (const int replicas : {2, 3, 4}) {
    Job run{.replicas = replicas,
            .steps = 5,
            .micro_batches = 12,
            .bucket_bytes = 1 << 20,
            .all_reduce = AllReduceAlgorithm::kRing};
    const Result one = Train(run);
    for (const int stages : {2, 3}) {
      run.stages = stages;
      EXPECT_EQ(Train(run).parameters == one.parameters, replicas == 2)
          << replicas << " replicas, " << stages << " stages";
    }
  }
}

// The first bucket of each replica begins within its last backward. A replica without samples in
// its last micro-batch (7 samples in 12) has an earlier one.
TEST(DataParallel, AllReducesBeginWithinTheLastBackwardAndChangeNoBits) {
  for (const int replicas : {2, 3})
    for (const int samples : {7, 12})
      for (const int stages : {1, 2}) {
        Job run{.replicas = replicas,
                .stages = stages,
                .steps = 4,
                .samples = samples,
                .micro_batches = 12};
        const Result with = Train(run);
        run.overlap = false;
        const Result without = Train(run);
        EXPECT_EQ(with.parameters, without.parameters);
        EXPECT_EQ(with.gradients, without.gradients);
        EXPECT_GE(with.early, 2 * (replicas - 1));
        EXPECT_EQ(without.early, 0);
      }
}

TEST(DataParallel, EncodedSumsBeginWithinTheLastBackwardToo) {
  for (const char* codec : {"uniform:8", "powersgd:1"}) {
    SCOPED_TRACE(codec);
    Job run{.replicas = 2, .steps = 4, .samples = 12, .micro_batches = 12, .codec = codec};
    const Result with = Train(run);
    run.overlap = false;
    const Result without = Train(run);
    EXPECT_EQ(with.parameters, without.parameters);
    EXPECT_GE(with.early, 2);
    EXPECT_EQ(without.early, 0);
  }
}

// As an application may do that keeps the model's variables: the hooks do nothing then.
TEST(DataParallel, ItsHooksMayOutliveIt) {
  RunRanks(2, [](Transport& t) {
    const NamedVariable weight{"w", Variable(Full({3}, 2), true)};
    const auto backward = [&] { Backward({ops::Sum(ops::Mul(weight.value, weight.value))}); };
    {
      Communicator replicas(t);
      DataParallel data_parallel(replicas, {weight});
      data_parallel.BeginLastBackward("test");
      backward();
      data_parallel.ReduceGradients("test", 1);
      EXPECT_EQ(ToVector<float>(weight.value.grad()), std::vector<float>(3, 8));
      Variable(weight.value).ZeroGrad();
    }
    backward();
    EXPECT_EQ(ToVector<float>(weight.value.grad()), std::vector<float>(3, 4));
  });
}

TEST(DataParallel, RunsAreRepeatable) {
  const Job run{.replicas = 3, .stages = 2, .steps = 4};
  EXPECT_EQ(Train(run).parameters, Train(run).parameters);
}

TEST(DataParallel, OneReplicaGivesThePlainModelsBits) {
  const Result one = Train({.replicas = 1, .stages = 2, .steps = 3});
  EXPECT_EQ(one.parameters[0], tiny::TrainPlain(3, 11, kMicroBatches).parameters);
}

// Sum over the micro-batches of the size of each parameter's gradient: what a sum's rounding is
// relative to.
tiny::Values SumOfSizes(int samples) {
  tiny::Values sums;
  const std::vector<Block> blocks = tiny::MakeBlocks(1);
  const MiniBatch batch = tiny::MakeBatch(0, samples, kMicroBatches);
  for (int m = 0; m < kMicroBatches; ++m) {
    const MicroBatch& part = batch.micro_batches[m];
    if (part.samples.empty()) continue;
    const StepContext context{batch.seed, 0, m, true, part.samples};
    std::vector<Variable> values{Variable(part.inputs[0])};
    for (const Block& block : blocks) values = block.forward(values, context);
    const double weight = static_cast<double>(part.samples.size()) / samples;
    Backward({tiny::Loss(values, part.targets)}, {Full({}, weight)});
    for (const Block& block : blocks) {
      for (const NamedVariable& p : block.parameters) {
        std::vector<float>& sum = sums[p.name];
        sum.resize(p.value.numel());
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += std::abs(p.value.grad().data<float>()[i]);
        Variable value = p.value;
        value.ZeroGrad();
      }
    }
  }
  return sums;
}

// Both sum the same M terms, in another order: each result is within (M - 1) eps / 2 of the true
// sum, relative to the sum of the terms' sizes (Higham, Accuracy and Stability, section 4.2), so
// they differ by at most (M - 1) eps of it.
TEST(DataParallel, GradientsAgreeWithOneReplicaUpToTheOrderOfSums) {
  for (const int samples :
       {11, 12, 4}) {  // 4: the last micro-batches are empty, a replica of six has nothing
    const Result one = Train({.replicas = 1, .samples = samples});
    const tiny::Values sizes = SumOfSizes(samples);
    for (const int replicas : {2, 3, 6}) {
      const Result many = Train({.replicas = replicas, .samples = samples});
      for (const auto& [name, grad] : many.gradients[0]) {
        const std::vector<float>& want = one.gradients[0].at(name);
        for (size_t i = 0; i < grad.size(); ++i) {
          const float bound =
              (kMicroBatches - 1) * std::numeric_limits<float>::epsilon() * sizes.at(name)[i];
          EXPECT_LE(std::abs(grad[i] - want[i]), bound) << name << " " << i;
        }
      }
      EXPECT_NEAR(many.loss, one.loss, 1e-12);  // summed in double
    }
  }
}

TEST(DataParallel, BytesAreThoseOfTheFormula) {
  for (const AllReduceAlgorithm algorithm :
       {AllReduceAlgorithm::kDirect, AllReduceAlgorithm::kRing}) {
    InProcessWorld world(3);
    RunRanks(world, [&](Transport& t) {
      std::vector<NamedVariable> parameters{{"a", Variable(Zeros({10, 7}), true)},
                                            {"b", Variable(Zeros({1}), true)}};
      Communicator replicas(t, {algorithm});
      DataParallel data_parallel(replicas, parameters, {.bucket_bytes = 64});
      for (int i = 0; i < 4; ++i) data_parallel.ReduceGradients("test", 1);
      EXPECT_EQ(t.BytesSent((t.rank() + 1) % 3, TagClass::kCollective) +
                    t.BytesSent((t.rank() + 2) % 3, TagClass::kCollective),
                4 * data_parallel.BytesPerStep());
      EXPECT_GT(data_parallel.BytesPerStep(), 0u);
    });
  }
}

TEST(DataParallel, BroadcastCopiesBuffers) {
  RunRanks(4, [](Transport& t) {
    Tensor mean = Full({5}, t.rank());
    Communicator(t).Broadcast({{"running_mean", mean}}, "test");
    EXPECT_EQ(ToVector<float>(mean), std::vector<float>(5, 0));
  });
}

}  // namespace
}  // namespace torus::parallel
