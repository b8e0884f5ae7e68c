// A stand-in for CUDA's header, with which runtime/cuda_api.cu compiles as C++. Every call gives
// the error that a test has set, and leaves it for cudaGetLastError, as CUDA does.
#pragma once

#include <cstddef>
#include <set>
#include <utility>

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNotReady = 600,
};

namespace fake_cuda {
inline cudaError_t answer = cudaSuccess;  // of every call
inline cudaError_t last = cudaSuccess;
inline int calls = 0;
inline int object = 0;               // what all handles point to
inline int connections = 0;          // calls of cudaDeviceEnablePeerAccess
inline thread_local int device = 0;  // the thread's, as CUDA has it from the start
inline std::set<int> contexts;       // GPUs that were the thread's at a call that makes a context
}  // namespace fake_cuda

using cudaStream_t = struct FakeStream*;
using cudaEvent_t = struct FakeEvent*;
using cudaGraph_t = struct FakeGraph*;
using cudaGraphExec_t = struct FakeGraphExec*;
struct cudaDeviceProp {
  struct {
    char bytes[16];
  } uuid;
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum { cudaMemcpyDefault, cudaHostAllocPortable, cudaStreamNonBlocking, cudaEventDisableTiming };

inline cudaError_t cudaGetLastError() { return std::exchange(fake_cuda::last, cudaSuccess); }
inline const char* cudaGetErrorString(cudaError_t) { return "an error"; }

namespace fake_cuda {
inline cudaError_t Call() {
  ++calls;
  if (answer != cudaSuccess) last = answer;
  return answer;
}
inline cudaError_t CallOnDevice() {
  contexts.insert(device);
  return Call();
}
template <class Handle>
cudaError_t Make(Handle* handle) {
  contexts.insert(device);
  *handle = answer == cudaSuccess ? reinterpret_cast<Handle>(&object) : nullptr;
  return Call();
}
}  // namespace fake_cuda

#define TORUS_FAKE(name)              \
  template <class... Args>            \
  cudaError_t name(const Args&...) {  \
    return fake_cuda::CallOnDevice(); \
  }
TORUS_FAKE(cudaThreadExchangeStreamCaptureMode)
TORUS_FAKE(cudaFree)
TORUS_FAKE(cudaFreeHost)
TORUS_FAKE(cudaMemcpyAsync)
TORUS_FAKE(cudaStreamDestroy)
TORUS_FAKE(cudaStreamQuery)
TORUS_FAKE(cudaStreamSynchronize)
TORUS_FAKE(cudaStreamWaitEvent)
TORUS_FAKE(cudaStreamBeginCapture)
TORUS_FAKE(cudaEventDestroy)
TORUS_FAKE(cudaEventRecord)
TORUS_FAKE(cudaEventQuery)
TORUS_FAKE(cudaEventSynchronize)
TORUS_FAKE(cudaGraphDestroy)
TORUS_FAKE(cudaGraphLaunch)
TORUS_FAKE(cudaGraphExecDestroy)
#undef TORUS_FAKE

inline cudaError_t cudaSetDevice(int device) {
  if (fake_cuda::answer == cudaSuccess) fake_cuda::device = device;
  return fake_cuda::Call();
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  return fake_cuda::Call();
}

inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return fake_cuda::Call();
}

inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  ++fake_cuda::connections;
  return fake_cuda::Call();
}

inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return fake_cuda::Call();
}

#define TORUS_FAKE_MAKER(name)                       \
  template <class Handle, class... Args>             \
  cudaError_t name(Handle* handle, const Args&...) { \
    return fake_cuda::Make(handle);                  \
  }
TORUS_FAKE_MAKER(cudaMalloc)
TORUS_FAKE_MAKER(cudaHostAlloc)
TORUS_FAKE_MAKER(cudaStreamCreateWithFlags)
TORUS_FAKE_MAKER(cudaEventCreateWithFlags)
TORUS_FAKE_MAKER(cudaGraphInstantiate)
#undef TORUS_FAKE_MAKER

inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  return fake_cuda::Make(graph);
}
