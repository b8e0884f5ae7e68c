// The in-process transport moves the memory of GPUs, behind what their streams hold. Skips where
// there is no GPU: run it with --config=emulated_gpu.
#include <gtest/gtest.h>

#include "parallel/transport/run_ranks.h"
#include "runtime/kernels.h"
#include "runtime/stream.h"

namespace torus::parallel {
namespace {

constexpr int64_t kCount = 1000;
constexpr Tag kTag{TagClass::kActivation, 3};

std::vector<Device> Devices() {
  std::vector<Device> all{Device{}};
  for (int gpu = 0; gpu < std::min(2, GpuCount()); ++gpu) all.push_back({DeviceKind::kCuda, gpu});
  return all;
}

class GpuMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
};

// Kernels that make the values are still queued when the message starts; the receiver's memory is
// still being written by one that was queued before.
TEST_F(GpuMemory, MovesBetweenAnyTwoDevicesBehindTheirStreams) {
  for (const Device from : Devices())
    for (const Device to : Devices()) {
      SCOPED_TRACE(ToString(from) + " to " + ToString(to));
      ThreadWorld world(2);
      world.Run([&](Transport& transport) {
        EXPECT_TRUE(transport.Moves(from));
        if (transport.rank() == 0) {
          Tensor values = Arange(kCount, DType::kF32, from);
          ScaleInPlace(values, 3);
          Pending sent = transport.Send(
              1, kTag, {values.raw(), values.bytes(), from, CurrentStream(from)}, "values");
          sent.Wait();
          Fill(values, 0);  // the bytes are the receiver's by now
        } else {
          Tensor got = Full({kCount}, 7, DType::kF32, to);
          transport.Recv(0, kTag, {got.mutable_raw(), got.bytes(), to, CurrentStream(to)}, "values")
              .Wait();
          Tensor expected = Arange(kCount, DType::kF32);
          ScaleInPlace(expected, 3);
          EXPECT_EQ(ToVector<float>(got), ToVector<float>(expected));
        }
      });
    }
}

TEST_F(GpuMemory, IsNotTouchedByAMessageThatIsGivenUp) {
  const Device gpu{DeviceKind::kCuda, 0};
  ThreadWorld world(2);
  world.Run([&](Transport& transport) {
    if (transport.rank() == 1) return;
    Tensor got = Full({kCount}, 7, DType::kF32, gpu);
    {
      const Pending none = transport.Recv(
          1, kTag, {got.mutable_raw(), got.bytes(), gpu, CurrentStream(gpu)}, "values");
      EXPECT_FALSE(none.Done());
    }
    EXPECT_EQ(ToVector<float>(got), std::vector<float>(kCount, 7));
  });
}

}  // namespace
}  // namespace torus::parallel
