// Fill, copy and cast on a GPU against their CPU twins. Needs a build with --config=cuda and a GPU,
// or --config=emulated_gpu.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "runtime/allocator.h"
#include "runtime/kernels.h"
#include "runtime/on_device.h"
#include "runtime/rng.h"
#include "runtime/stream.h"

namespace torus {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!kHasCuda) GTEST_SKIP() << "this build has no CUDA: use --config=cuda or emulated_gpu";
    if (GpuCount() == 0) GTEST_SKIP() << "this machine has no GPU that can be used";
  }
};

Tensor Samples(int64_t count) {
  Tensor values({count}, DType::kF32);
  FillUniform(values, 0, 250, RandomStream({3}));
  return values;
}

bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

TEST_F(Cuda, EveryCastAgreesWithTheCpu) {
  for (int64_t count : {0, 1, 255, 257, 3000000}) {
    for (int from = 0; from <= static_cast<int>(DType::kBool); ++from) {
      const Tensor in = Samples(count).To(static_cast<DType>(from));
      for (int to = 0; to <= static_cast<int>(DType::kBool); ++to) {
        const Tensor out = in.To(kGpu).To(static_cast<DType>(to)).To(Device{});
        EXPECT_TRUE(SameBytes(out, in.To(static_cast<DType>(to)))) << in.Describe() << " " << to;
      }
    }
  }
}

TEST_F(Cuda, CastAndMoveAtOnce) {
  const Tensor in = Samples(1000);
  Tensor there({1000}, DType::kF16, kGpu), back({1000}, DType::kF64);
  Copy(in, there);
  Copy(there, back);
  EXPECT_TRUE(SameBytes(back, in.To(DType::kF16).To(DType::kF64)));
}

TEST_F(Cuda, FillAgreesWithTheCpu) {
  for (int dtype = 0; dtype <= static_cast<int>(DType::kBool); ++dtype) {
    const DType d = static_cast<DType>(dtype);
    EXPECT_TRUE(SameBytes(Full({3, 7}, 2.7, d, kGpu).To(Device{}), Full({3, 7}, 2.7, d)));
  }
}

TEST_F(Cuda, AllocatorReusesAndCounts) {
  Allocator& gpu = AllocatorFor(kGpu);
  void* block = gpu.Allocate(1 << 20);
  gpu.Free(block, 1 << 20);
  EXPECT_EQ(gpu.Allocate(1 << 20), block);
  gpu.Free(block, 1 << 20);
  EXPECT_THROW(gpu.Allocate(size_t{1} << 45), BrokenEnvironment);
  EXPECT_THROW(AllocatorFor({DeviceKind::kCuda, GpuCount()}), BadInput);
}

TEST_F(Cuda, EventsAreDoneAfterTheirStream) {
  Stream stream(kGpu), other(kGpu);
  Event event(kGpu);
  event.Record(stream);
  other.Wait(event);
  other.Synchronize();
  EXPECT_TRUE(event.IsDone());
}

// A real GPU may be quick enough to hide it.
TEST_F(Cuda, AMissingWaitBetweenStreamsShows) {
  if (!kEmulatedGpu) GTEST_SKIP() << "needs --config=emulated_gpu";
  Stream writer(kGpu), reader(kGpu);
  Tensor x = Zeros({1}, DType::kF32, kGpu);
  EXPECT_EQ(x.Item(), 0);
  {
    const WithStream in(writer);
    Fill(x, 5);
  }
  const WithStream in(reader);
  EXPECT_EQ(x.Item(), 0);
  Event filled(kGpu);
  filled.Record(writer);
  reader.Wait(filled);
  EXPECT_EQ(x.Item(), 5);
}

// Every kind of view, packed and unpacked on the GPU, with a cast and without.
TEST_F(Cuda, StridedCopiesAgreeWithTheCpu) {
  const Tensor in = Samples(2 * 3 * 4 * 5).View({2, 3, 4, 5});
  const auto views = [](const Tensor& t) {
    return std::vector<Tensor>{t.Transpose(0, 3),
                               t.Permute({2, 0, 3, 1}),
                               t.Narrow(2, 1, 2),
                               t.Select(3, 4),
                               t.Narrow(1, 0, 1).Expand({2, 7, 4, 5}),
                               t.Select(0, 1).Select(0, 2).Select(0, 3).Select(0, 4)};
  };
  const std::vector<Tensor> here = views(in), there = views(in.To(kGpu));
  for (size_t i = 0; i < here.size(); ++i) {
    EXPECT_TRUE(SameBytes(there[i].Clone().To(Device{}), here[i].Clone())) << i;
    EXPECT_TRUE(SameBytes(there[i].To(Device{}), here[i].Clone())) << i;
    EXPECT_TRUE(SameBytes(here[i].To(kGpu).To(Device{}), here[i].Clone())) << i;
    EXPECT_TRUE(SameBytes(there[i].To(DType::kF16).To(Device{}), here[i].To(DType::kF16))) << i;
  }
}

TEST_F(Cuda, CopiesIntoViewsAgreeWithTheCpu) {
  const Tensor in = Samples(12).View({3, 4});
  for (Device from : {Device{}, kGpu}) {
    for (Device to : {Device{}, kGpu}) {
      Tensor whole = Full({4, 3, 2}, 7, DType::kF64, to);
      Tensor part = whole.Select(2, 1).Transpose(0, 1);
      Copy(in.To(from), part);
      Tensor expected = Full({4, 3, 2}, 7, DType::kF64);
      Tensor expected_part = expected.Select(2, 1).Transpose(0, 1);
      Copy(in, expected_part);
      EXPECT_TRUE(SameBytes(whole.To(Device{}), expected)) << ToString(from) << ToString(to);
    }
  }
}

TEST_F(Cuda, FillsOfViewsLeaveTheRest) {
  Tensor there = Zeros({3, 4}, DType::kI32, kGpu), here = Zeros({3, 4}, DType::kI32);
  Tensor column = there.Select(1, 2), expected = here.Select(1, 2);
  Fill(column, 5);
  Fill(expected, 5);
  EXPECT_TRUE(SameBytes(there.To(Device{}), here));
}

TEST_F(Cuda, AddScaleAndCountAgreeWithTheCpu) {
  for (int dtype = 0; dtype <= static_cast<int>(DType::kBool); ++dtype) {
    const DType d = static_cast<DType>(dtype);
    EXPECT_TRUE(SameBytes(Arange(1000, d, kGpu).To(Device{}), Arange(1000, d)));
    if (d == DType::kU8 || d == DType::kBool) continue;
    Tensor here = Samples(1000).To(d), there = here.To(kGpu);
    const Tensor more = Samples(1000).To(d);
    AddInPlace(here, more);
    AddInPlace(there, more.To(kGpu));
    EXPECT_TRUE(SameBytes(there.To(Device{}), here)) << Name(d);
    if (d != DType::kF32 && d != DType::kF64) continue;
    ScaleInPlace(here, 0.3);
    ScaleInPlace(there, 0.3);
    EXPECT_TRUE(SameBytes(there.To(Device{}), here)) << Name(d);
  }
}

// Each GPU has its own default stream: what one sends, the other's next kernel must wait for.
TEST_F(Cuda, CopiesBetweenGpusKeepTheirOrder) {
  if (GpuCount() < 2) GTEST_SKIP() << "needs two GPUs";
  constexpr Device kOther{DeviceKind::kCuda, 1};
  Tensor a = Samples(1000).To(kGpu);
  ScaleInPlace(a, 2);
  Tensor b = a.To(kOther);
  ScaleInPlace(a, 0);
  ScaleInPlace(b, 2);
  Tensor expected = Samples(1000);
  ScaleInPlace(expected, 4);
  EXPECT_TRUE(SameBytes(b.To(Device{}), expected));
  Tensor turned = a.View({100, 10});
  Copy(b.View({10, 100}).Transpose(0, 1), turned);
  EXPECT_TRUE(SameBytes(turned.To(Device{}), expected.View({10, 100}).Transpose(0, 1).Clone()));
}

// All that share the memory follow, and what was queued on it before is not lost.
TEST_F(Cuda, MemoryMovesWithItsViews) {
  const Tensor x = Samples(24).View({4, 6}), before = x.Clone();
  const Tensor row = x.Select(0, 2);
  const uint64_t version = x.version();
  MoveMemory(x, kGpu);
  EXPECT_EQ(x.device(), kGpu);
  EXPECT_EQ(row.device(), kGpu);
  EXPECT_GT(x.version(), version);
  Tensor doubled = x;
  ScaleInPlace(doubled, 2);
  MoveMemory(row, Device{});
  EXPECT_EQ(x.device(), Device{});
  Tensor expected = before;
  ScaleInPlace(expected, 2);
  EXPECT_TRUE(SameBytes(x, expected));
  EXPECT_TRUE(SameBytes(row.Clone(), expected.Select(0, 2).Clone()));
}

TEST_F(Cuda, BytesAreCopiedBetweenAnyTwoDevices) {
  const Device last{DeviceKind::kCuda, GpuCount() - 1};
  for (const Device from : {Device{}, kGpu, last})
    for (const Device to : {Device{}, kGpu, last}) {
      Tensor in = Samples(100).To(from), out = Zeros({100}, DType::kF32, to);
      ScaleInPlace(in, 2);
      CopyMemory(in.raw(), from, out.mutable_raw(), to, in.bytes());
      EXPECT_TRUE(SameBytes(out.To(Device{}), in.To(Device{}))) << ToString(from) << ToString(to);
    }
}

}  // namespace
}  // namespace torus
