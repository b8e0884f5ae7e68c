// Which GPUs pinned memory makes contexts on: those that the process uses. Over a stand-in for
// CUDA; one test, since it begins with what a process does before it uses any GPU.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <thread>

#include "runtime/cuda_api.h"
#include "runtime/error.h"
#include "tests/runtime/cuda_api/cuda_runtime.h"

namespace torus::cuda {
namespace {

void OnAnotherThread(const std::function<void()>& work) { std::thread(work).join(); }

void PinAndFree() { FreeHost(MallocHost(8)); }

TEST(Pinning, MakesNoContextOnAGpuThatTheProcessDoesNotUse) {
  EXPECT_FALSE(CanPin());
  EXPECT_THROW(MallocHost(8), BrokenEnvironment);
  EXPECT_EQ(fake_cuda::contexts, std::set<int>{});
  UseDevice(3);
  EXPECT_TRUE(CanPin());
  OnAnotherThread(PinAndFree);
  OnAnotherThread([] { FreeHost(&fake_cuda::object); });
  OnAnotherThread([] { Free(3, &fake_cuda::object); });
  EXPECT_EQ(fake_cuda::contexts, std::set<int>{3});
  // A thread pins with its own, whatever another has selected since.
  OnAnotherThread([] { UseDevice(2); });
  PinAndFree();
  EXPECT_EQ(fake_cuda::contexts, std::set<int>{3});
  OnAnotherThread(PinAndFree);
  EXPECT_EQ(fake_cuda::contexts, (std::set<int>{2, 3}));
}

}  // namespace
}  // namespace torus::cuda
