// Communicators on GPU memory: what is done there and what goes through copies in CPU memory. Skips
// where there is no GPU: run it with --config=emulated_gpu.
#include <gtest/gtest.h>

#include <memory>

#include "parallel/collectives/communicator.h"
#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/nccl/nccl_world.h"
#include "parallel/transport/run_ranks.h"
#include "parallel/transport/topology.h"
#include "runtime/on_device.h"
#include "tests/parallel/transport/nccl/emulated_nccl.h"

namespace torus::parallel {
namespace {

// Counts the messages of collectives, by the memory that they are sent from.
class CountsMessages : public DecoratedTransport {
 public:
  explicit CountsMessages(Transport& inner) : DecoratedTransport(inner), inner_(inner) {}
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    if (tag.kind == TagClass::kCollective)
      ++(buffer.device.kind == DeviceKind::kCuda ? from_gpus : from_cpus);
    return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
  }
  Engine* EngineOf(const std::vector<int>& members) override { return inner_.EngineOf(members); }
  int from_gpus = 0, from_cpus = 0;

 private:
  Transport& inner_;
};

class CommunicatorOnTwoGpus : public testing::Test {
 protected:
  void SetUp() override {
    library_ = NcclForTests(2);
    if (library_ == nullptr) GTEST_SKIP() << "no two GPUs, no --config=emulated_gpu: NOT tested";
  }
  void Run(const Topology& topology, const std::function<void(CountsMessages&, Device)>& fn) {
    ThreadWorld threads(2);
    NcclWorld world(threads, *library_);
    world.Run([&](Transport& transport) {
      transport.Connect(topology);
      CountsMessages counts(transport);
      fn(counts, GpuOfRank(transport));
    });
  }
  std::unique_ptr<NcclLibrary> library_;
};

const CommunicatorOptions kByEngine{.engine_on_gpus = true};
const Topology kPair{.pairs = {{0, 1}}}, kGroup{.groups = {{0, 1}}};

std::vector<float> OnCpu(const Tensor& tensor) { return ToVector<float>(tensor.To(Device{})); }

std::vector<float> Fives(float value) { return std::vector<float>(5, value); }

// Of rank r, r + 1 everywhere.
Tensor Own(const Transport& transport, Device gpu) {
  return Full({5}, transport.rank() + 1, DType::kF32, gpu);
}

TEST_F(CommunicatorOnTwoGpus, SumsThereByTheEngineIfAsked) {
  Run(kGroup, [](CountsMessages& transport, Device gpu) {
    Communicator communicator(transport, kByEngine);
    EXPECT_TRUE(communicator.SumsOn(gpu));
    const Tensor sum = communicator.AllReduce(Own(transport, gpu), "sum");
    EXPECT_EQ(sum.device(), gpu);
    Tensor started = Own(transport, gpu);
    communicator.StartAllReduce(BufferOf(started), DType::kF32, "started", 0)->Finish();
    EXPECT_EQ(OnCpu(sum), Fives(3));
    EXPECT_EQ(OnCpu(started), Fives(3));
    EXPECT_EQ(transport.from_gpus + transport.from_cpus, 0);
  });
}

TEST_F(CommunicatorOnTwoGpus, SumsInCpuMemoryOtherwise) {
  Run(kGroup, [](CountsMessages& transport, Device gpu) {
    Communicator communicator(transport);
    EXPECT_FALSE(communicator.SumsOn(gpu));
    const Tensor sum = communicator.AllReduce(Own(transport, gpu), "sum");
    EXPECT_EQ(sum.device(), gpu);
    EXPECT_EQ(OnCpu(sum), Fives(3));
    Tensor started = Own(transport, gpu);
    communicator.StartAllReduce(BufferOf(started), DType::kF32, "started", 0)->Finish();
    EXPECT_EQ(OnCpu(started), Fives(3));
    EXPECT_EQ(transport.from_gpus, 0);
    EXPECT_GT(transport.from_cpus, 0);
  });
}

TEST_F(CommunicatorOnTwoGpus, GathersFromGpuToGpuWhereTheyAreConnected) {
  for (const bool connected : {true, false})
    Run(connected ? kPair : kGroup, [&](CountsMessages& transport, Device gpu) {
      const std::vector<Tensor> all =
          Communicator(transport).AllGather(Own(transport, gpu), "tensors");
      ASSERT_EQ(all.size(), 2u);
      for (int r = 0; r < 2; ++r) {
        EXPECT_EQ(all[r].device(), gpu);
        EXPECT_EQ(OnCpu(all[r]), Fives(static_cast<float>(r + 1)));
      }
      EXPECT_EQ(transport.from_gpus, connected ? 1 : 0);
      EXPECT_EQ(transport.from_cpus, connected ? 0 : 1);
    });
}

TEST_F(CommunicatorOnTwoGpus, DoesTheRestThroughCpuMemory) {
  Run(kPair, [](CountsMessages& transport, Device gpu) {
    Communicator communicator(transport);
    const int rank = transport.rank();
    Tensor sent = Own(transport, gpu);
    communicator.Broadcast(BufferOf(sent), 1, "values");
    EXPECT_EQ(OnCpu(sent), Fives(2));

    Tensor rows[] = {Own(transport, gpu), Own(transport, gpu)};
    communicator.ReduceScatter({BufferOf(rows[0]), BufferOf(rows[1])}, DType::kF32, "sums");
    EXPECT_EQ(OnCpu(rows[rank]), Fives(3));
    EXPECT_EQ(OnCpu(rows[1 - rank]), Fives(static_cast<float>(rank + 1)));

    Tensor whole[] = {Own(transport, gpu), Own(transport, gpu)};
    communicator.Gather(0, {BufferOf(whole[0]), BufferOf(whole[1])}, "rows");
    EXPECT_EQ(OnCpu(whole[0]), Fives(static_cast<float>(rank + 1)));
    EXPECT_EQ(OnCpu(whole[1]), Fives(2));

    Tensor blocks = Full({2}, rank + 1, DType::kF32, gpu), received = Zeros({2}, DType::kF32, gpu);
    communicator.AllToAll(BufferOf(blocks), BufferOf(received), "blocks");
    EXPECT_EQ(OnCpu(received), (std::vector<float>{1, 2}));
    EXPECT_EQ(transport.from_gpus, 0);
  });
}

}  // namespace
}  // namespace torus::parallel
