// Copies to a GPU beside what it computes, and the order of the streams that take part. Skips where
// there is no GPU: run it with --config=emulated_gpu.
#include "runtime/uploader.h"

#include <gtest/gtest.h>

#include <thread>

#include "runtime/allocator.h"
#include "runtime/cuda/kernels.h"
#include "runtime/error.h"
#include "runtime/gpu_dispatch.h"
#include "runtime/kernels.h"
#include "runtime/on_device.h"
#include "runtime/pinned.h"

namespace torus {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};
constexpr int64_t kCount = 1000;

class OneGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, no --config=emulated_gpu: NOT tested";
    const Event use(kGpu);  // memory is pinned with a GPU that is in use
  }
};
using Uploads = OneGpu;
using Pinned = OneGpu;

Tensor PinnedOf(double value, int64_t count = kCount) {
  Tensor tensor = EmptyPinned({count}, DType::kF32);
  Fill(tensor, value);
  return tensor;
}

double Read(const Tensor& tensor) { return tensor.Select(0, tensor.dim(0) - 1).Item(); }

// As a step does: reads x by kernels that nobody waits for.
Tensor Twice(const Tensor& x) {
  Tensor sum = x.Clone();
  AddInPlace(sum, x);
  return sum;
}

TEST_F(Uploads, OfTheNextBatchLeaveTheOneBeforeWhole) {
  Uploader uploader(kGpu);
  std::vector<Tensor> results;
  uploader.Begin();
  Tensor now = uploader.Copy(PinnedOf(0));
  for (int step = 0; step < 6; ++step) {
    uploader.Await();
    results.push_back(Twice(now));
    uploader.Begin();
    const Tensor next = uploader.Copy(PinnedOf(step + 1));
    results.back() = Twice(results.back());
    uploader.Release();
    now = next;
  }
  for (int step = 0; step < 6; ++step) EXPECT_EQ(Read(results[step]), 4 * step);
}

TEST_F(Uploads, TakeTheSameMemoryInTurn) {
  Uploader uploader(kGpu);
  std::vector<const void*> places;
  for (int step = 0; step < 4; ++step) {
    uploader.Begin();
    places.push_back(uploader.Copy(PinnedOf(step)).raw());
    uploader.Await();
    uploader.Release();
  }
  EXPECT_EQ(places[0], places[2]);
  EXPECT_EQ(places[1], places[3]);
  EXPECT_NE(places[0], places[1]);
}

TEST_F(Uploads, LeaveWhatIsKept) {
  Uploader uploader(kGpu);
  std::vector<Tensor> kept;
  for (int step = 0; step < 5; ++step) {
    uploader.Begin();
    kept.push_back(uploader.Copy(PinnedOf(step)));
    uploader.Await();
    uploader.Release();
  }
  for (int step = 0; step < 5; ++step) EXPECT_EQ(Read(kept[step]), step);
}

// A block that was freed while kernels on it had not run yet is given to a batch.
TEST_F(Uploads, ComeBehindWhatTheirMemoryWasUsedForBefore) {
  constexpr int64_t kOwnSize = 77777;  // of a size class that nothing else has here
  Uploader uploader(kGpu);
  Tensor result = Zeros({kOwnSize}, DType::kF32, kGpu);
  [[maybe_unused]] const void* place = nullptr;
  {
    Tensor before = Full({kOwnSize}, 5, DType::kF32, kGpu);
    place = before.raw();
    AddInPlace(result, before);
  }
  uploader.Begin();
  const Tensor copy = uploader.Copy(PinnedOf(1, kOwnSize));
  EXPECT_EQ(copy.raw(), place) << "else nothing is tested";
  uploader.Await();
  EXPECT_EQ(Read(copy), 1);
  EXPECT_EQ(Read(result), 5);
}

// Pinned memory that is dropped at once is not handed out before its copy has run.
TEST_F(Uploads, KeepTheirSources) {
  Uploader uploader(kGpu);
  uploader.Begin();
  const Tensor first = uploader.Copy(PinnedOf(1));
  const Tensor overwritten = PinnedOf(2);  // would take the block of the first
  uploader.Await();
  EXPECT_EQ(Read(first), 1);
  EXPECT_EQ(overwritten.data<float>()[0], 2);
}

TEST_F(Uploads, MayBeBegunAndNotAwaited) {
  Uploader uploader(kGpu);
  for (int step = 0; step < 5; ++step) {
    uploader.Begin();
    static_cast<void>(uploader.Copy(PinnedOf(step, kCount + 100 * step)));
  }
  const Tensor last = uploader.Copy(PinnedOf(9));
  uploader.Await();
  EXPECT_EQ(Read(last), 9);
}

TEST_F(Uploads, TakeAnyTensorOfTheCpu) {
  Uploader uploader(kGpu);
  uploader.Begin();
  const Tensor strided = Arange(6, DType::kI64).View({2, 3}).Transpose(0, 1);
  const Tensor there = uploader.Copy(strided), none = uploader.Copy(Zeros({0, 4}));
  uploader.Await();
  EXPECT_EQ(ToVector<int64_t>(there.To(Device{})), (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(none.shape(), (Shape{0, 4}));
  EXPECT_THROW(uploader.Copy(there), BadInput);
  EXPECT_THROW(uploader.Copy(Tensor()), BadInput);
}

TEST_F(Uploads, WaitForNothing) {
  if (!kEmulatedGpu) GTEST_SKIP() << "what waits shows on emulated GPUs alone";
  Uploader uploader(kGpu);
  const Tensor ones = Full({kCount}, 1, DType::kF32, kGpu);
  Event computed(kGpu);
  computed.Record(CurrentStream(kGpu));
  for (int step = 0; step < 2; ++step) {
    uploader.Begin();
    static_cast<void>(uploader.Copy(PinnedOf(step)));
    uploader.Await();
    uploader.Release();
  }
  EXPECT_FALSE(computed.IsDone());
}

// Otherwise the kernel would be launched on the GPU that the other thread uses.
TEST_F(Pinned, LeavesTheGpuOfItsThread) {
  if (GpuCount() < 2) GTEST_SKIP() << "one GPU: NOT tested";
  Tensor x({kCount}, DType::kF32, kGpu);
  Dispatch(
      "test", kGpu, [] {},
      [&] {
        std::thread([] { Full({1}, 0, DType::kF32, {DeviceKind::kCuda, 1}); }).join();
        PinnedAllocator().ReleaseCached();
        const Tensor pinned = PinnedOf(1);
        cuda::Fill(x.mutable_raw(), DType::kF32, kCount, 3, CurrentStream(kGpu));
      });
  EXPECT_EQ(Read(x), 3);
}

TEST_F(Pinned, MemoryIsUsedAgain) {
  const size_t before = PinnedAllocator().stats().live_bytes;
  [[maybe_unused]] const void* place = nullptr;
  {
    const Tensor tensor = EmptyPinned({123457}, DType::kF64);
    place = tensor.raw();
    EXPECT_EQ(tensor.device(), Device{});
    EXPECT_EQ(PinnedAllocator().stats().live_bytes, before + tensor.bytes());
  }
  EXPECT_EQ(PinnedAllocator().stats().live_bytes, before);
#ifndef TORUS_SANITIZER  // sanitizers are to see uses after free, so nothing is kept for later
  EXPECT_EQ(EmptyPinned({123457}, DType::kF64).raw(), place);
#endif
}

TEST(EmptyPinned, IsOrdinaryMemoryWithoutGpus) {
  Tensor tensor = EmptyPinned({3, 4}, DType::kF32);
  Fill(tensor, 2);
  EXPECT_EQ(ToVector<float>(tensor), std::vector<float>(12, 2));
  EXPECT_THROW(Uploader(Device{}), BadInput);
  EXPECT_THROW(Uploader({DeviceKind::kCuda, GpuCount()}), BadInput);
}

}  // namespace
}  // namespace torus
