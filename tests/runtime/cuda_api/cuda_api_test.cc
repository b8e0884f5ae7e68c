// What the calls of CUDA leave behind when they fail: nothing that the next launch would take for
// its own error. Over a stand-in for CUDA.
#include "runtime/cuda_api.h"

#include <gtest/gtest.h>

#include <functional>

#include "runtime/error.h"
#include "tests/runtime/cuda_api/cuda_runtime.h"

namespace torus::cuda {
namespace {

struct Call {
  const char* name;
  std::function<void()> make;
  bool throws = true;
};

void* const kHandle = &fake_cuda::object;

std::vector<Call> Calls() {
  return {
      {"DeviceCount", [] { EXPECT_EQ(DeviceCount(), 0); }, false},
      {"IdOf", [] { IdOf(0); }},
      {"UseDevice", [] { UseDevice(0); }},
      {"Malloc", [] { Malloc(0, 8); }},
      {"Free", [] { Free(0, kHandle); }, false},
      {"MallocHost", [] { MallocHost(8); }},
      {"FreeHost", [] { FreeHost(kHandle); }, false},
      {"CopyBytes", [] { CopyBytes(kHandle, kHandle, 1, nullptr); }},
      {"ConnectMemories", [] { ConnectMemories(0, 1); }, false},
      {"CreateStream", [] { CreateStream(0); }},
      {"DestroyStream", [] { DestroyStream(kHandle); }, false},
      {"Synchronize", [] { Synchronize(kHandle); }},
      {"CreateEvent", [] { CreateEvent(0); }},
      {"DestroyEvent", [] { DestroyEvent(kHandle); }, false},
      {"Record", [] { Record(kHandle, kHandle); }},
      {"IsDone", [] { IsDone(kHandle); }},
      {"WaitOnHost", [] { WaitOnHost(kHandle); }},
      {"WaitOnStream", [] { WaitOnStream(kHandle, kHandle); }},
      {"BeginCapture", [] { BeginCapture(kHandle); }},
      {"EndCapture", [] { EndCapture(kHandle); }},
      {"DropCapture", [] { DropCapture(kHandle); }, false},
      {"LaunchGraph", [] { LaunchGraph(kHandle, kHandle); }},
      {"DestroyGraph", [] { DestroyGraph(kHandle); }, false},
  };
}

// While one exists, all calls fail.
class Failing {
 public:
  explicit Failing(cudaError_t error) { fake_cuda::answer = error; }
  ~Failing() { fake_cuda::answer = cudaSuccess; }
};

class CudaApi : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_cuda::last = cudaSuccess;
    UseDevice(0);  // memory is pinned with a GPU that is in use
  }
};

TEST_F(CudaApi, AFailureIsNotTheNextLaunchs) {
  for (const Call& call : Calls()) {
    SCOPED_TRACE(call.name);
    const int before = fake_cuda::calls;
    {
      const Failing failing(cudaErrorInvalidValue);
      if (call.throws)
        EXPECT_THROW(call.make(), BrokenEnvironment);
      else
        call.make();
    }
    EXPECT_GT(fake_cuda::calls, before);
    EXPECT_NO_THROW(CheckLaunch("the next op"));
  }
}

TEST_F(CudaApi, NoMemoryAndNotYetAreNoErrors) {
  {
    const Failing failing(cudaErrorNotReady);
    EXPECT_FALSE(IsDone(kHandle));
  }
  EXPECT_NO_THROW(CheckLaunch("the next op"));
}

TEST_F(CudaApi, TwoGpusAreConnectedOnceInBothDirections) {
  fake_cuda::connections = 0;
  for (int i = 0; i < 3; ++i) ConnectMemories(2, 3), ConnectMemories(3, 2);
  EXPECT_EQ(fake_cuda::connections, 2);
}

TEST_F(CudaApi, ALaunchsOwnErrorIsTold) {
  fake_cuda::last = cudaErrorInvalidValue;
  EXPECT_THROW(CheckLaunch("an op"), BrokenEnvironment);
  EXPECT_NO_THROW(CheckLaunch("the next op"));
}

}  // namespace
}  // namespace torus::cuda
