// Fill, copy and cast on a GPU against their CPU twins. Needs a build with --config=cuda and a GPU,
// or --config=emulated_gpu.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/allocator.h"
#include "runtime/kernels.h"
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

TEST_F(Cuda, StridedTensorsAreRefused) {
  Tensor strided = Zeros({2, 3}, DType::kF32, kGpu).Transpose(0, 1);
  EXPECT_THROW(strided.Clone(), BadInput);
  EXPECT_THROW(Fill(strided, 1), BadInput);
  EXPECT_THROW(ScaleInPlace(strided, 1), BadInput);
}

}  // namespace
}  // namespace torus
