// An observer is shown the work of emulated GPUs, which is then not done.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/emulated_gpu/memory.h"
#include "runtime/emulated_gpu/queues.h"
#include "runtime/error.h"
//
#include "runtime/emulated_gpu/kernel.h"

namespace torus::emulated_gpu {
namespace {

__global__ void AddOne(float* values, int64_t count) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) values[i] += 1;
}

void LaunchAddOne(float* values, StreamHandle stream) {
  cuda::Launch("add", 2, 64, 0, stream, AddOne, values, 100);
}

// Runs the block that it is told to of every launch.
class Notes : public Observer {
 public:
  void OnLaunch(const SeenLaunch& launch) override {
    seen.push_back(launch.op);
    arguments = launch.arguments.size();
    if (block >= 0) RunBlock(launch.op, launch.shape, static_cast<uint64_t>(block), launch.thread);
  }
  void OnCopy(void*, const void*, size_t bytes, StreamHandle) override {
    seen.push_back("copy of " + std::to_string(bytes));
  }
  std::vector<std::string> seen;
  size_t arguments = 0;
  int block = -1;
};

using Seen = std::vector<std::string>;

// The first test, because the memory of later ones is reserved.
TEST(ObserverTest, IsThereBeforeMemoryIs) {
  Notes notes;
  void* const block = TakeMemory(0, 400);
  if (IsReserved(block)) {
    GiveMemory(0, block);
    GTEST_SKIP() << "another test of this process has reserved the memory";
  }
  EXPECT_THROW(Observed observed(notes), InternalError);
  GiveMemory(0, block);
  EXPECT_EQ(Observed::Current(), nullptr);
}

class ObservedTest : public testing::Test {
 protected:
  void SetUp() override {
    SetCurrentDevice(0);
    values_ = static_cast<float*>(TakeMemory(0, 400));
  }
  void TearDown() override { GiveMemory(0, values_); }
  Notes notes_;
  Observed observed_{notes_};
  float* values_ = nullptr;
};

TEST_F(ObservedTest, MemoryHoldsZerosAndIsLarge) {
  for (int i = 0; i < 100; ++i) ASSERT_EQ(values_[i], 0);
  void* const large = TakeMemory(0, size_t{70} << 30);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(TakeMemory(0, size_t{10} << 30), nullptr);
  EXPECT_TRUE(IsReserved(large));
  EXPECT_FALSE(IsReserved(this));
  GiveMemory(0, large);
}

TEST_F(ObservedTest, ALaunchIsShownWhenItsTurnComesAndNotDone) {
  LaunchAddOne(values_, nullptr);
  EXPECT_EQ(notes_.seen, Seen());
  WaitForStream(nullptr);
  EXPECT_EQ(notes_.seen, Seen{"add"});
  EXPECT_EQ(notes_.arguments, sizeof(float*) + sizeof(int64_t));
  EXPECT_EQ(values_[0], 0);
}

TEST_F(ObservedTest, ABlockOfALaunchCanBeRun) {
  notes_.block = 1;
  LaunchAddOne(values_, nullptr);
  WaitForStream(nullptr);
  EXPECT_EQ(values_[63], 0);
  EXPECT_EQ(values_[64], 1);
  EXPECT_EQ(values_[99], 1);
}

TEST_F(ObservedTest, AReplayShowsEachLaunchAgain) {
  const StreamHandle stream = MakeStream();
  BeginRecording(stream);
  LaunchAddOne(values_, stream);
  LaunchAddOne(values_, stream);
  const auto recording = EndRecording(stream);
  EXPECT_EQ(notes_.seen, Seen());
  for (int i = 0; i < 2; ++i) Replay(recording, stream);
  WaitForStream(stream);
  EXPECT_EQ(notes_.seen, Seen(4, "add"));
  DropStream(stream);
}

TEST_F(ObservedTest, TwoAreOneTooMany) {
  Notes other;
  EXPECT_THROW(Observed second(other), InternalError);
  EXPECT_EQ(Observed::Current(), &notes_);
}

}  // namespace
}  // namespace torus::emulated_gpu
