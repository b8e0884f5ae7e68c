// NCCL itself behind the transport. Needs a build with --config=cuda; sums in a communicator of one
// need a GPU, messages between ranks as many GPUs as ranks, since NCCL takes none twice.
#include "parallel/transport/nccl/real_nccl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "parallel/transport/nccl/nccl_world.h"
#include "parallel/transport/run_ranks.h"
#include "parallel/transport/topology.h"
#include "runtime/error.h"
#include "runtime/on_device.h"
#include "runtime/stream.h"
#include "runtime/tensor.h"

namespace torus::parallel {
namespace {

std::unique_ptr<NcclLibrary> Library() {
  return OnDevice(
      {kHasCuda ? DeviceKind::kCuda : DeviceKind::kCpu},
      []() -> std::unique_ptr<NcclLibrary> {
        Throw<BrokenEnvironment>("nccl", "this build has no CUDA");
      },
      [] { return RealNccl(); });
}

class RealNcclTest : public testing::Test {
 protected:
  void Need(int gpus) {
    if (!kHasCuda) GTEST_SKIP() << "this build has no CUDA: use --config=cuda";
    if (GpuCount() < gpus) GTEST_SKIP() << "needs " << gpus << " GPUs, there are " << GpuCount();
  }
};

Buffer BufferOf(Tensor& tensor) {
  return {tensor.mutable_raw(), tensor.bytes(), tensor.device(), CurrentStream(tensor.device())};
}

Tensor Numbers(int64_t count, double first, Device device) {
  Tensor numbers({count}, DType::kF32);
  for (int64_t i = 0; i < count; ++i)
    numbers.mutable_data<float>()[i] = static_cast<float>(first + static_cast<double>(i % 1000));
  return numbers.To(device);
}

void ExpectNumbers(const Tensor& got, double first, double step) {
  const Tensor values = got.To(Device{});
  for (int64_t i = 0; i < values.numel(); ++i)
    ASSERT_EQ(values.data<float>()[i],
              static_cast<float>(first + step * static_cast<double>(i % 1000)))
        << i;
}

TEST_F(RealNcclTest, ACommunicatorOfOneSumsToItself) {
  Need(1);
  if (IsSkipped()) return;
  const auto library = Library();
  const Device gpu{DeviceKind::kCuda, 0};
  const auto comms = library->Join({{library->NewId(), 1, 0, NcclUse::kSums}}, gpu, [](double) {});
  Tensor numbers = Numbers(100'003, 5, gpu);
  const auto before = library->Mark(gpu, CurrentStream(gpu));
  const auto work = comms[0]->AllReduce(BufferOf(numbers), DType::kF32, *before);
  work->Precede(CurrentStream(gpu));
  ExpectNumbers(numbers, 5, 1);
  comms[0]->Check();
  library->Abort({comms[0].get()});
}

TEST_F(RealNcclTest, MovesAndSumsBetweenGpus) {
  Need(2);
  if (IsSkipped()) return;
  const int ranks = std::min(GpuCount(), 4);
  const auto library = Library();
  ThreadWorld threads(ranks);
  NcclWorld world(threads, *library);
  world.Run([&](Transport& t) {
    t.Connect(AllConnected(ranks));
    const Device gpu = GpuOfRank(t);
    const int right = (t.rank() + 1) % ranks, left = (t.rank() + ranks - 1) % ranks;
    for (const int64_t count : {1, 1000, 3'000'001}) {
      Tensor mine = Numbers(count, t.rank(), gpu), theirs = Zeros({count}, DType::kF32, gpu);
      const Buffer out = BufferOf(mine);
      Pending sent =
          t.Send(right, {TagClass::kUser, 1}, {out.data, out.bytes, gpu, out.stream}, "numbers");
      t.Recv(left, {TagClass::kUser, 1}, BufferOf(theirs), "numbers").WaitOn(CurrentStream(gpu));
      sent.WaitOn(CurrentStream(gpu));
      ExpectNumbers(theirs, left, 1);
      std::vector<int> all(ranks);
      for (int r = 0; r < ranks; ++r) all[r] = r;
      t.EngineOf(all)->AllReduce(BufferOf(mine), DType::kF32, "sum").WaitOn(CurrentStream(gpu));
      ExpectNumbers(mine, ranks * (ranks - 1) / 2, ranks);
    }
  });
}

}  // namespace
}  // namespace torus::parallel
