// Memory and launches of the emulated GPUs: what a real one would refuse or leave undefined is an
// error here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstring>

#include "runtime/emulated_gpu/memory.h"
#include "runtime/emulated_gpu/queues.h"
#include "runtime/error.h"
//
#include "runtime/emulated_gpu/kernel.h"

namespace torus::emulated_gpu {
namespace {

using cuda::Launch;

__global__ void AddOne(float* values, int64_t count) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) values[i] += 1;
}

struct Holder {
  int64_t number;
  const float* values;
};
__global__ void Read(Holder holder, float* out) { *out = holder.values[holder.number]; }

class LaunchTest : public testing::Test {
 protected:
  void SetUp() override {
    SetCurrentDevice(0);
    here_ = static_cast<float*>(TakeMemory(0, 400));
    there_ = static_cast<float*>(TakeMemory(1, 400));
  }
  void TearDown() override {
    SetCurrentDevice(0);
    WaitForDevice(0);
    GiveMemory(0, here_);
    GiveMemory(1, there_);
  }
  float *here_, *there_;
};

TEST_F(LaunchTest, MemoryBeginsAsNaN) {
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(std::isnan(here_[i]));
}

TEST_F(LaunchTest, AKernelRunsWhenItIsWaitedFor) {
  for (int i = 0; i < 100; ++i) here_[i] = 1;
  Launch("add", 1, 128, 0, nullptr, AddOne, here_, 100);
  EXPECT_EQ(here_[0], 1);
  WaitForStream(nullptr);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(here_[i], 2);
}

__global__ void MultiplyAndAdd(double* of_doubles, float* of_floats) {
  of_doubles[3] = __dmul_rn(of_doubles[0], of_doubles[1]) + of_doubles[2];
  of_floats[3] = __fmul_rn(of_floats[0], of_floats[1]) + of_floats[2];
}

// A fused multiply-add would leave the square of the last bit.
TEST_F(LaunchTest, AProductThatIsRoundedByItselfIsNotFused) {
  double of_doubles[4] = {1 + 0x1p-40, 1 + 0x1p-40, -(1 + 0x1p-39), NAN};
  float of_floats[4] = {1 + 0x1p-20f, 1 + 0x1p-20f, -(1 + 0x1p-19f), NAN};
  Launch("multiply", 1, 1, 0, nullptr, MultiplyAndAdd, &of_doubles[0], &of_floats[0]);
  WaitForStream(nullptr);
  EXPECT_EQ(of_doubles[3], 0);
  EXPECT_EQ(of_floats[3], 0);
}

TEST_F(LaunchTest, AnotherGpusMemoryIsRefusedByName) {
  try {
    Launch("add", 1, 128, 0, nullptr, AddOne, there_, 100);
    FAIL();
  } catch (const BrokenEnvironment& e) {
    EXPECT_STREQ(e.what(), "[add] runs on cuda:0 and was given memory of cuda:1");
  }
  EXPECT_THROW(Launch("read", 1, 1, 0, nullptr, Read, Holder{3, there_ + 50}, here_),
               BrokenEnvironment);
  Launch("read", 1, 1, 0, nullptr, Read, Holder{3, here_}, here_);
}

struct Padded {
  float* out;
  float value;  // four bytes of padding behind it
};

__global__ void Write(Padded to) { *to.out = to.value; }

// The padding, with the value before it, is an address of the other GPU.
TEST_F(LaunchTest, PaddingIsTakenForNoAddress) {
  Padded padded;
  // So large that its address has more than 32 bits, also where the heap begins at a low one.
  void* const large = TakeMemory(1, size_t{1} << 24);
  const auto* const there = static_cast<const float*>(large);
  ASSERT_GT(reinterpret_cast<uintptr_t>(there), uintptr_t{1} << 32);
  std::memcpy(reinterpret_cast<char*>(&padded) + offsetof(Padded, value), &there, sizeof there);
  padded.out = here_;
  Launch("write", 1, 1, 0, nullptr, Write, padded);
  WaitForStream(nullptr);
  EXPECT_EQ(std::memcmp(here_, &there, sizeof padded.value), 0);
  GiveMemory(1, large);
}

TEST_F(LaunchTest, GridsThatCannotRunAreRefused) {
  EXPECT_THROW(Launch("add", 0, 128, 0, nullptr, AddOne, here_, 1), BrokenEnvironment);
  EXPECT_THROW(Launch("add", 1, 1025, 0, nullptr, AddOne, here_, 1), BrokenEnvironment);
  EXPECT_THROW(Launch("add", {1, 65536}, 1, 0, nullptr, AddOne, here_, 1), BrokenEnvironment);
  EXPECT_THROW(Launch("add", 1, 1, 49153, nullptr, AddOne, here_, 1), BrokenEnvironment);
}

TEST_F(LaunchTest, BlocksAreKnownByTheirAddresses) {
  EXPECT_EQ(BlockOf(here_ + 99)->device, 0);
  EXPECT_EQ(BlockOf(there_)->device, 1);
  EXPECT_FALSE(BlockOf(here_ + 100).has_value());
  const int on_host = 0;
  EXPECT_FALSE(BlockOf(&on_host).has_value());
  CheckSpan("copy", here_ + 50, 200);
  EXPECT_THROW(CheckSpan("copy", here_ + 50, 201), BrokenEnvironment);
}

TEST(Memory, RunsOut) {
  EXPECT_EQ(TakeMemory(0, kMemoryBytes + 1), nullptr);
  EXPECT_THROW(GiveMemory(0, nullptr), InternalError);
}

}  // namespace
}  // namespace torus::emulated_gpu
