// Gradient buckets of GPUs, and their sums by NCCL beside the backward. Skips where there is no
// GPU: run it with --config=emulated_gpu.
#include <gtest/gtest.h>

#include <memory>

#include "autograd/backward.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduction/reduction.h"
#include "parallel/collectives/barrier.h"
#include "parallel/data_parallel/data_parallel.h"
#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/engine.h"
#include "parallel/transport/nccl/nccl_world.h"
#include "parallel/transport/run_ranks.h"
#include "parallel/transport/topology.h"
#include "runtime/kernels.h"
#include "runtime/on_device.h"
#include "runtime/stream.h"
#include "tests/parallel/transport/nccl/emulated_nccl.h"

namespace torus::parallel {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};

// Odd sizes, a strided gradient, one that is missing, one that is not trained.
std::vector<NamedVariable> Parameters(Device device) {
  std::vector<NamedVariable> all;
  for (const int64_t size : {1, 700, 0, 33, 5})
    all.push_back(
        {fmt::format("p{}", size), Variable(Zeros({size, 3}, DType::kF32, device), size != 5)});
  for (NamedVariable& each : all) {
    if (each.name == "p33" || each.name == "p5") continue;
    Tensor values = Arange(each.value.numel(), DType::kF32, device);
    const int64_t rows = each.value.shape()[0];
    each.value.SetGrad(each.name == "p700" ? values.View({3, rows}).Transpose(0, 1)
                                           : values.View({rows, 3}));
  }
  return all;
}

std::vector<std::vector<float>> GradientsOf(const std::vector<NamedVariable>& parameters) {
  std::vector<std::vector<float>> all;
  for (const NamedVariable& each : parameters)
    all.push_back(each.value.grad().defined() ? ToVector<float>(each.value.grad().To(Device{}))
                                              : std::vector<float>());
  return all;
}

struct Filled {
  std::vector<std::vector<float>> flat, gradients;
};

Filled ThereAndBack(Device parameters_on, Device buckets_on) {
  std::vector<NamedVariable> parameters = Parameters(parameters_on);
  GradientBuckets buckets(parameters, 1000, buckets_on);
  Filled filled;
  for (int i = 0; i < buckets.size(); ++i) {
    buckets.Fill(i);
    filled.flat.push_back(ToVector<float>(buckets.bucket(i).To(Device{})));
    ScaleInPlace(buckets.bucket(i), 2);
    buckets.Unfill(i);
  }
  filled.gradients = GradientsOf(parameters);
  return filled;
}

class OneGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, no --config=emulated_gpu: NOT tested";
  }
};

TEST_F(OneGpu, FillsBucketsWithTheBitsOfTheCpu) {
  const Filled cpu = ThereAndBack({}, {});
  ASSERT_GT(cpu.flat.size(), 1u);
  for (const Device buckets_on : {Device{}, kGpu}) {
    const Filled gpu = ThereAndBack(kGpu, buckets_on);
    EXPECT_EQ(gpu.flat, cpu.flat) << ToString(buckets_on);
    EXPECT_EQ(gpu.gradients, cpu.gradients) << ToString(buckets_on);
  }
}

// Notes the sums that are asked for.
class CountsSums : public DecoratedTransport {
 public:
  explicit CountsSums(Transport& inner) : DecoratedTransport(inner), inner_(inner) {}

  Engine* EngineOf(const std::vector<int>& members) override {
    counting_ = std::make_unique<Counting>(*inner_.EngineOf(members));
    return counting_.get();
  }
  int sums() const { return counting_->sums; }

 private:
  struct Counting : Engine {
    explicit Counting(Engine& real) : real(real) {}
    Pending AllReduce(Buffer data, DType dtype, std::string what) override {
      ++sums;
      return real.AllReduce(data, dtype, std::move(what));
    }
    Engine& real;
    int sums = 0;
  };
  Transport& inner_;
  std::unique_ptr<Counting> counting_;
};

class GradientsOnTwoGpus : public testing::Test {
 protected:
  void SetUp() override {
    library_ = NcclForTests(2);
    if (library_ == nullptr) GTEST_SKIP() << "no two GPUs, no --config=emulated_gpu: NOT tested";
  }
  void RunByNccl(const std::function<void(CountsSums&, Device)>& fn) {
    ThreadWorld threads(2);
    NcclWorld world(threads, *library_);
    world.Run([&](Transport& transport) {
      transport.Connect(AllConnected(2));
      CountsSums counts(transport);
      fn(counts, GpuOfRank(transport));
    });
  }
  std::unique_ptr<NcclLibrary> library_;
};

// Weights of one bucket each, the product of whose squares' sums is the loss of a replica.
struct Model {
  explicit Model(Device gpu) {
    for (int i = 0; i < 3; ++i)
      weights.push_back(
          {fmt::format("w{}", i), Variable(Full({40}, i + 1, DType::kF32, gpu), true)});
  }
  void Backward(double factor) const {
    Variable sum;
    for (const NamedVariable& weight : weights) {
      const Variable square = ops::Sum(ops::Mul(weight.value, weight.value));
      sum = sum.defined() ? ops::Add(sum, square) : square;
    }
    torus::Backward({sum}, {Full({}, factor, DType::kF32, sum.data().device())});
  }
  std::vector<NamedVariable> weights;
};

const DataParallelOptions kOneEach{.bucket_bytes = 1};
const CommunicatorOptions kByEngine{.engine_on_gpus = true};

// The gradients are 2 w (1 + 2) then.
TEST_F(GradientsOnTwoGpus, SumBesideTheBackwardAndWaitForNothing) {
  RunByNccl([](CountsSums& replicas, Device gpu) {
    const Model model(gpu);
    Communicator communicator(replicas, kByEngine);
    DataParallel data_parallel(communicator, model.weights, kOneEach);
    data_parallel.BroadcastWeights("test");
    for (int step = 0; step < 3; ++step) {
      const int before = replicas.sums();
      data_parallel.BeginLastBackward("test");
      model.Backward(replicas.rank() + 1);
      Event computed(gpu);
      computed.Record(CurrentStream(gpu));
      EXPECT_EQ(replicas.sums() - before, 3) << "all are whole in the backward";
      data_parallel.ReduceGradients("test", 1);
      EXPECT_EQ(replicas.sums() - before, 3);
      EXPECT_TRUE(!kEmulatedGpu || !computed.IsDone()) << "something has waited for the GPU";
      Barrier(replicas, "both have looked");  // to read the sums is to run both GPUs
      for (int i = 0; i < 3; ++i) {
        Variable weight = model.weights[i].value;
        EXPECT_EQ(ToVector<float>(weight.grad().To(Device{})),
                  std::vector<float>(40, static_cast<float>(6 * (i + 1))));
        weight.ZeroGrad();
      }
    }
  });
}

TEST_F(GradientsOnTwoGpus, SumAtTheEndWhereTheRankHasOtherStages) {
  RunByNccl([](CountsSums& replicas, Device gpu) {
    const Model model(gpu);
    DataParallelOptions options = kOneEach;
    options.only_stage = false;
    Communicator communicator(replicas, kByEngine);
    DataParallel data_parallel(communicator, model.weights, options);
    data_parallel.BroadcastWeights("test");
    data_parallel.BeginLastBackward("test");
    model.Backward(1);
    EXPECT_EQ(replicas.sums(), 0);
    data_parallel.ReduceGradients("test", 1);
    EXPECT_EQ(replicas.sums(), 3);
    EXPECT_EQ(ToVector<float>(model.weights[0].value.grad().To(Device{})),
              std::vector<float>(40, 4));
  });
}

// A replica without samples has no gradients, and learns of the other's.
TEST_F(GradientsOnTwoGpus, BringGradientsToAReplicaWithoutAny) {
  RunByNccl([](CountsSums& replicas, Device gpu) {
    const Model model(gpu);
    Communicator communicator(replicas, kByEngine);
    DataParallel data_parallel(communicator, model.weights, kOneEach);
    data_parallel.BroadcastWeights("test");
    if (replicas.rank() == 0) {
      data_parallel.BeginLastBackward("test");
      model.Backward(1);
    }
    data_parallel.ReduceGradients("test", 1);
    EXPECT_EQ(ToVector<float>(model.weights[2].value.grad().To(Device{})),
              std::vector<float>(40, 6));
  });
}

}  // namespace
}  // namespace torus::parallel
